//! What a body says of an endpoint.

use crate::api::wire::{Fields, Sent, channels, event_type, not_empty};
use crate::api::{Api, Fault};
use crate::model::application::Metadata;
use crate::model::endpoint::{Disabled, SigningSecret};
use crate::model::{ApplicationId, Endpoint, EndpointId, Schedule, Time};

/// The most channels that an endpoint listens to.
const MOST_CHANNELS: usize = 10;

/// What a body says of an endpoint; of its address, that it is checked.
#[derive(Clone)]
pub(super) struct Wanted {
    url: Sent<String>,
    /// The name that its user gives it.
    pub(super) uid: Sent<String>,
    description: Sent<String>,
    /// Whether nothing is to be sent to it.
    pub(super) disabled: Sent<bool>,
    event_types: Sent<Vec<String>>,
    channels: Sent<Vec<String>>,
    throttle_rate: Sent<u16>,
    retry_schedule: Sent<Schedule>,
    metadata: Sent<Metadata>,
}

impl Wanted {
    /// Takes the fields of an endpoint, and leaves the others.
    pub(super) fn take(api: &Api, fields: &mut Fields<'_>) -> Result<Self, Fault> {
        // There is one version of everything.
        fields.take::<u16>("version", "a whole number")?;
        Ok(Self {
            url: url(api, fields)?,
            uid: fields.uid("uid", EndpointId::PREFIX)?,
            description: fields.text("description")?,
            disabled: fields.flag("disabled")?,
            event_types: event_types(fields)?,
            channels: fields
                .texts("channels")?
                .checked("channels", |list| channels(list, MOST_CHANNELS))?,
            throttle_rate: fields.throttle_rate()?,
            retry_schedule: retry_schedule(fields)?,
            metadata: fields.metadata()?,
        })
    }

    /// Reads a body that has no other fields.
    pub(super) fn read(api: &Api, mut fields: Fields<'_>) -> Result<Self, Fault> {
        let wanted = Self::take(api, &mut fields)?;
        fields.finish()?;
        Ok(wanted)
    }

    /// The endpoint that it describes.
    pub(super) fn make(self, application_id: ApplicationId, now: Time) -> Result<Endpoint, Fault> {
        let disabled = self.disabled.value().unwrap_or(false);
        Ok(Endpoint {
            id: EndpointId::new(now),
            application_id,
            uid: self.uid.value(),
            url: self.url.required("url")?,
            description: self.description.value().unwrap_or_default(),
            throttle_rate: self.throttle_rate.value(),
            event_types: self.event_types.value(),
            channels: self.channels.value(),
            source: None,
            trusted: false,
            disabled: disabled.then_some(Disabled::ByUser),
            metadata: self.metadata.value().unwrap_or_default(),
            headers: Vec::new(),
            secrets: vec![SigningSecret::generate()],
            retry_schedule: self.retry_schedule.value(),
            created_at: now,
            updated_at: now,
        })
    }

    /// Changes what was sent.
    pub(super) fn patch(self, endpoint: &mut Endpoint, now: Time) {
        self.url.replace(&mut endpoint.url);
        self.uid.write_to(&mut endpoint.uid);
        self.description.replace(&mut endpoint.description);
        if let Sent::Value(disabled) = self.disabled {
            disable(endpoint, disabled);
        }
        self.event_types.write_to(&mut endpoint.event_types);
        self.channels.write_to(&mut endpoint.channels);
        self.throttle_rate.write_to(&mut endpoint.throttle_rate);
        self.retry_schedule.write_to(&mut endpoint.retry_schedule);
        self.metadata.replace(&mut endpoint.metadata);
        endpoint.updated_at = now;
    }
}

fn url(api: &Api, fields: &mut Fields<'_>) -> Result<Sent<String>, Fault> {
    let url = fields.text("url")?.checked("url", |url| not_empty(url))?;
    let Sent::Value(url) = url else {
        return Ok(url);
    };
    (api.check_url)(&url)
        .map(Sent::Value)
        .map_err(|problem| Fault::field("url", problem))
}

fn event_types(fields: &mut Fields<'_>) -> Result<Sent<Vec<String>>, Fault> {
    let mut read = |name| {
        let list = fields.texts(name)?;
        list.checked(name, |list| match list.is_empty() {
            true => Err("must not be empty; leave it out to get every event type".to_owned()),
            false => list.iter().try_for_each(|name| event_type(name)),
        })
    };
    Ok(read("eventTypes")?.or(read("filterTypes")?))
}

fn retry_schedule(fields: &mut Fields<'_>) -> Result<Sent<Schedule>, Fault> {
    Ok(match fields.text("retrySchedule")? {
        Sent::Absent => Sent::Absent,
        Sent::Null => Sent::Null,
        Sent::Value(text) => Sent::Value(
            text.parse()
                .map_err(|problem| Fault::field("retrySchedule", format!("{problem}")))?,
        ),
    })
}

/// Keeps the reason of one that is disabled already.
pub(super) fn disable(endpoint: &mut Endpoint, disabled: bool) {
    endpoint.disabled = disabled.then(|| endpoint.disabled.unwrap_or(Disabled::ByUser));
}
