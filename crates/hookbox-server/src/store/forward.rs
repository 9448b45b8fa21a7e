//! The rules by which a source is made or replaced, whichever database keeps it.

use super::{Error, Result, SourceDraft};
use crate::model::endpoint::SigningSecret;
use crate::model::{ApplicationId, Endpoint, EndpointId, Source, SourceId, Time};

impl SourceDraft {
    /// Whether this draft may take the place of the source of its name.
    pub(super) fn may_replace(&self, before: Option<&Source>, replace: bool) -> Result<()> {
        match before {
            Some(_) if !replace => Err(Error::Conflict("a source with this name exists")),
            Some(known) if known.from_file && !self.from_file => Err(Error::Conflict(
                "this source belongs to the settings file; change it there",
            )),
            _ => Ok(()),
        }
    }

    /// The source that this draft makes of the one before.
    pub(super) fn source(
        &self,
        before: Option<&Source>,
        application_id: ApplicationId,
        now: Time,
    ) -> Result<Source> {
        if before.is_some_and(|known| known.application_id != application_id) {
            return Err(Error::Conflict(
                "a source stays with its application; make one under another name",
            ));
        }
        Ok(Source {
            id: before.map_or_else(|| SourceId::new(now), |known| known.id),
            name: self.name.clone(),
            application_id,
            provider: self.provider.clone(),
            secrets: self.secrets.clone(),
            rules: self.rules.clone(),
            from_file: self.from_file,
            created_at: before.map_or(now, |known| known.created_at),
            updated_at: now,
        })
    }
}

/// What has to happen to the endpoints of a source.
pub(super) struct Changes {
    pub(super) write: Vec<Endpoint>,
    pub(super) delete: Vec<EndpointId>,
}

/// Makes the endpoints of a source what its list of addresses says, place by place.
pub(super) fn changes(
    source: &Source,
    known: Vec<Endpoint>,
    urls: &[String],
    now: Time,
) -> Changes {
    let mut known = known.into_iter();
    let mut write = Vec::new();
    for (place, url) in urls.iter().enumerate() {
        match known.next() {
            Some(kept) if kept.url == *url && kept.application_id == source.application_id => {}
            Some(kept) => write.push(Endpoint {
                url: url.clone(),
                updated_at: now,
                ..kept
            }),
            None => write.push(new(source, place, url, now)),
        }
    }
    Changes {
        write,
        delete: known.map(|endpoint| endpoint.id).collect(),
    }
}

fn new(source: &Source, place: usize, url: &str, now: Time) -> Endpoint {
    Endpoint {
        id: EndpointId::new(now),
        application_id: source.application_id,
        uid: Some(format!("{}.forward.{}", source.name, place + 1)),
        url: url.to_owned(),
        description: format!("takes the events of source {}", source.name),
        throttle_rate: None,
        event_types: None,
        channels: None,
        source: Some(source.id),
        trusted: true,
        disabled: None,
        metadata: std::collections::BTreeMap::default(),
        headers: Vec::new(),
        secrets: vec![SigningSecret::generate()],
        retry_schedule: None,
        created_at: now,
        updated_at: now,
    }
}
