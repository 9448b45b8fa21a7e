//! Sources and their receipts in `SQLite`.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::once::once;
use super::rows::{Blob, Bounds, from_json, json, listing};
use super::writer::Context;
use super::{SqliteStore, applications, endpoints};
use crate::model::endpoint::SigningSecret;
use crate::model::{
    Application, ApplicationId, Endpoint, EndpointId, MessageId, Receipt, Secret, Source, SourceId,
    Time,
};
use crate::store::seal::Sealer;
use crate::store::{Error, Listing, Once, Page, Result, SourceDraft};

fn read(row: &Row<'_>, sealer: &Sealer) -> Result<Source> {
    let id = SourceId(row.get::<_, Blob<16>>(0)?.0);
    let secrets = sealer.open(&id.0, &row.get::<_, Vec<u8>>(4)?)?;
    let secrets: Vec<String> =
        serde_json::from_slice(&secrets).map_err(|error| Error::Unreadable(error.to_string()))?;
    Ok(Source {
        id,
        name: row.get(1)?,
        application_id: ApplicationId(row.get::<_, Blob<16>>(2)?.0),
        provider: row.get(3)?,
        secrets: secrets.into_iter().map(Secret::new).collect(),
        rules: from_json(&row.get::<_, String>(5)?)?,
        from_file: row.get(6)?,
        created_at: row.get(7)?,
        updated_at: row.get(8)?,
    })
}

fn write(context: &mut Context<'_>, source: &Source) -> Result<()> {
    let secrets: Vec<&str> = source.secrets.iter().map(Secret::expose).collect();
    context
        .db
        .prepare_cached(include_str!("sql/source_put.sql"))?
        .execute(params![
            Blob(source.id.0),
            source.name,
            Blob(source.application_id.0),
            source.provider,
            context.sealer.seal(&source.id.0, json(&secrets).as_bytes()),
            json(&source.rules),
            source.from_file,
            source.created_at,
            source.updated_at,
        ])?;
    context.doors_changed = true;
    Ok(())
}

fn find(db: &Connection, sealer: &Sealer, name: &str) -> Result<Option<Source>> {
    db.prepare_cached(include_str!("sql/source_find.sql"))?
        .query_row(params![name], |row| Ok(read(row, sealer)))
        .optional()?
        .transpose()
}

/// Every live source.
pub(super) fn all(db: &Connection, sealer: &Sealer) -> Result<Vec<Source>> {
    let mut statement = db.prepare_cached(include_str!("sql/source_list.sql"))?;
    let rows = statement.query_and_then(params!["", char::MAX.to_string(), -1], |row| {
        read(row, sealer)
    })?;
    rows.collect()
}

/// The application of that uid, made when there is none.
fn application(context: &mut Context<'_>, uid: &str, now: Time) -> Result<ApplicationId> {
    if let Some(known) = applications::find(context.db, uid)? {
        return Ok(known.id);
    }
    let made = Application {
        id: ApplicationId::new(now),
        uid: Some(uid.to_owned()),
        name: uid.to_owned(),
        throttle_rate: None,
        metadata: std::collections::BTreeMap::default(),
        created_at: now,
        updated_at: now,
    };
    applications::write(context, &made)?;
    Ok(made.id)
}

/// Makes the endpoints of a source what its list of addresses says, place by place.
fn forward(context: &mut Context<'_>, source: &Source, urls: &[String], now: Time) -> Result<()> {
    let mut known = {
        let mut statement = context
            .db
            .prepare_cached(include_str!("sql/endpoint_of_source.sql"))?;
        let rows = statement.query_and_then([Blob(source.id.0)], |row| {
            endpoints::read(row, context.sealer)
        })?;
        rows.collect::<Result<Vec<_>>>()?
    }
    .into_iter();
    for (place, url) in urls.iter().enumerate() {
        let endpoint = match known.next() {
            Some(kept) if kept.url == *url && kept.application_id == source.application_id => {
                continue;
            }
            Some(kept) => Endpoint {
                url: url.clone(),
                updated_at: now,
                ..kept
            },
            None => Endpoint {
                id: EndpointId::new(now),
                application_id: source.application_id,
                uid: Some(format!("{}.forward.{}", source.name, place + 1)),
                url: url.clone(),
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
            },
        };
        endpoints::write(context, &endpoint)?;
    }
    for gone in known {
        endpoints::delete(context, gone.id, now)?;
    }
    Ok(())
}

fn put(context: &mut Context<'_>, draft: SourceDraft, replace: bool, now: Time) -> Result<Source> {
    let before = find(context.db, context.sealer, &draft.name)?;
    match &before {
        Some(_) if !replace => return Err(Error::Conflict("a source with this name exists")),
        Some(known) if known.from_file && !draft.from_file => {
            return Err(Error::Conflict(
                "this source belongs to the settings file; change it there",
            ));
        }
        _ => {}
    }
    let application_id = application(context, &draft.application_uid, now)?;
    if before
        .as_ref()
        .is_some_and(|known| known.application_id != application_id)
    {
        return Err(Error::Conflict(
            "a source stays with its application; make one under another name",
        ));
    }
    let source = Source {
        id: before
            .as_ref()
            .map_or_else(|| SourceId::new(now), |known| known.id),
        name: draft.name,
        application_id,
        provider: draft.provider,
        secrets: draft.secrets,
        rules: draft.rules,
        from_file: draft.from_file,
        created_at: before.as_ref().map_or(now, |known| known.created_at),
        updated_at: now,
    };
    write(context, &source)?;
    forward(context, &source, &draft.forward, now)?;
    Ok(source)
}

fn delete(context: &mut Context<'_>, id: SourceId, now: Time) -> Result<()> {
    let deleted = context
        .db
        .prepare_cached(include_str!("sql/source_delete.sql"))?
        .execute(params![Blob(id.0), now])?;
    if deleted == 0 {
        return Err(Error::NotFound("source"));
    }
    for endpoint in endpoints::ids(context.db, include_str!("sql/endpoint_of_source.sql"), id.0)? {
        endpoints::delete(context, endpoint, now)?;
    }
    context.doors_changed = true;
    Ok(())
}

impl SqliteStore {
    pub(super) async fn put_source(
        &self,
        draft: SourceDraft,
        replace: bool,
        now: Time,
        key: Option<Once>,
    ) -> Result<Source> {
        self.write(move |context| {
            once(context, key.as_ref())?;
            put(context, draft, replace, now)
        })
        .await
    }

    pub(super) async fn sources(&self, page: Page<String>) -> Result<Listing<Source>> {
        let sealer = self.sealer.clone();
        self.read(move |db| {
            let bounds = Bounds::of(&page);
            let mut statement =
                db.prepare_cached(&bounds.ordered(include_str!("sql/source_list.sql")))?;
            let rows = statement
                .query_and_then(params![bounds.above, bounds.below, bounds.limit], |row| {
                    read(row, &sealer)
                })?;
            Ok(listing(&page, rows.collect::<Result<_>>()?))
        })
        .await
    }

    pub(super) async fn delete_source(&self, id: SourceId, now: Time) -> Result<()> {
        self.write(move |context| delete(context, id, now)).await
    }

    pub(super) async fn receipts(
        &self,
        source: SourceId,
        page: Page<MessageId>,
    ) -> Result<Listing<Receipt>> {
        self.read(move |db| {
            let bounds = Bounds::of(&page);
            let mut statement =
                db.prepare_cached(&bounds.ordered(include_str!("sql/receipt_list.sql")))?;
            let rows = statement.query_map(
                params![
                    Blob(source.0),
                    Blob(bounds.above.0),
                    Blob(bounds.below.0),
                    bounds.limit
                ],
                |row| {
                    Ok(Receipt {
                        source_id: source,
                        event_id: row.get(0)?,
                        digest: row.get::<_, Blob<32>>(1)?.0,
                        message_id: MessageId(row.get::<_, Blob<16>>(2)?.0),
                        received_at: row.get(3)?,
                        seen: row.get(4)?,
                    })
                },
            )?;
            Ok(listing(&page, rows.collect::<rusqlite::Result<_>>()?))
        })
        .await
    }
}
