//! Endpoints in `SQLite`.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use super::SqliteStore;
use super::once::once;
use super::rows::{Blob, Bounds, from_json, json, listing};
use super::writer::Context;
use crate::model::endpoint::{Disabled, SigningSecret};
use crate::model::{ApplicationId, Endpoint, EndpointId, Secret, SourceId, Time};
use crate::store::seal::Sealer;
use crate::store::{Change, Error, Listing, Once, Page, Result};

#[derive(Serialize, Deserialize)]
struct StoredSecret {
    key: String,
    expires_at: Option<i64>,
}

/// Reads an endpoint from the columns that `endpoint_*.sql` select.
pub(super) fn read(row: &Row<'_>, sealer: &Sealer) -> Result<Endpoint> {
    let id = EndpointId(row.get::<_, Blob<16>>(0)?.0);
    let opened = |column| -> Result<String> {
        let text = sealer.open(&id.0, &row.get::<_, Vec<u8>>(column)?)?;
        String::from_utf8(text).map_err(|error| Error::Unreadable(error.to_string()))
    };
    let list = |column| -> Result<Option<Vec<String>>> {
        row.get::<_, Option<String>>(column)?
            .map(|text| from_json(&text))
            .transpose()
    };
    let headers: BTreeMap<String, String> = from_json(&opened(12)?)?;
    let secrets: Vec<StoredSecret> = from_json(&opened(13)?)?;
    let schedule: Option<String> = row.get(14)?;
    Ok(Endpoint {
        id,
        application_id: ApplicationId(row.get::<_, Blob<16>>(1)?.0),
        uid: row.get(2)?,
        url: row.get(3)?,
        description: row.get(4)?,
        throttle_rate: row.get(5)?,
        event_types: list(6)?,
        channels: list(7)?,
        source: row.get::<_, Option<Blob<16>>>(8)?.map(|id| SourceId(id.0)),
        trusted: row.get(9)?,
        disabled: row
            .get::<_, Option<String>>(10)?
            .as_deref()
            .and_then(Disabled::from_code),
        metadata: from_json(&row.get::<_, String>(11)?)?,
        headers: headers
            .into_iter()
            .map(|(name, value)| (name, Secret::new(value)))
            .collect(),
        secrets: secrets
            .into_iter()
            .map(|stored| SigningSecret {
                key: Secret::new(stored.key),
                expires_at: stored.expires_at.map(Time),
            })
            .collect(),
        retry_schedule: schedule
            .map(|text| {
                text.parse()
                    .map_err(|_| Error::Unreadable("a retry schedule".into()))
            })
            .transpose()?,
        created_at: row.get(15)?,
        updated_at: row.get(16)?,
    })
}

/// Writes an endpoint, new or changed.
pub(super) fn write(context: &mut Context<'_>, endpoint: &Endpoint) -> Result<()> {
    uid_is_free(context.db, endpoint)?;
    let headers: BTreeMap<&str, &str> = endpoint
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.expose()))
        .collect();
    let secrets: Vec<StoredSecret> = endpoint
        .secrets
        .iter()
        .map(|secret| StoredSecret {
            key: secret.key.expose().to_owned(),
            expires_at: secret.expires_at.map(|at| at.0),
        })
        .collect();
    let seal = |text: String| context.sealer.seal(&endpoint.id.0, text.as_bytes());
    context
        .db
        .prepare_cached(include_str!("sql/endpoint_put.sql"))?
        .execute(params![
            Blob(endpoint.id.0),
            Blob(endpoint.application_id.0),
            endpoint.uid,
            endpoint.url,
            endpoint.description,
            endpoint.throttle_rate,
            endpoint.event_types.as_ref().map(json),
            endpoint.channels.as_ref().map(json),
            endpoint.source.map(|id| Blob(id.0)),
            endpoint.trusted,
            endpoint.disabled.map(Disabled::code),
            json(&endpoint.metadata),
            seal(json(&headers)),
            seal(json(&secrets)),
            endpoint.retry_schedule.as_ref().map(ToString::to_string),
            endpoint.created_at,
            endpoint.updated_at,
        ])?;
    context.routes.forget();
    Ok(())
}

fn uid_is_free(db: &Connection, endpoint: &Endpoint) -> Result<()> {
    let Some(uid) = &endpoint.uid else {
        return Ok(());
    };
    let taken: bool = db
        .prepare_cached(include_str!("sql/endpoint_uid_taken.sql"))?
        .query_row(
            params![Blob(endpoint.application_id.0), uid, Blob(endpoint.id.0)],
            |row| row.get(0),
        )?;
    if taken {
        Err(Error::Conflict("an endpoint with this uid exists"))
    } else {
        Ok(())
    }
}

/// The live endpoint of that id.
pub(super) fn by_id(db: &Connection, sealer: &Sealer, id: EndpointId) -> Result<Endpoint> {
    db.prepare_cached(include_str!("sql/endpoint_by_id.sql"))?
        .query_row(params![Blob(id.0)], |row| Ok(read(row, sealer)))
        .optional()?
        .ok_or(Error::NotFound("endpoint"))?
}

/// The ids that a statement finds for one owner.
pub(super) fn ids(db: &Connection, sql: &str, owner: [u8; 16]) -> Result<Vec<EndpointId>> {
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([Blob(owner)], |row| {
        Ok(EndpointId(row.get::<_, Blob<16>>(0)?.0))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Applies to what waits that the endpoint is enabled, or is not.
pub(super) fn hold_or_free(
    context: &mut Context<'_>,
    endpoint: &Endpoint,
    now: Time,
) -> Result<()> {
    if endpoint.disabled.is_some() {
        context
            .db
            .prepare_cached(include_str!("sql/delivery_hold.sql"))?
            .execute(params![Blob(endpoint.id.0)])?;
    } else {
        let freed = context
            .db
            .prepare_cached(include_str!("sql/delivery_free.sql"))?
            .execute(params![Blob(endpoint.id.0), now])?;
        if freed > 0 {
            context.due_at(now);
        }
    }
    Ok(())
}

/// Deletes an endpoint and cancels what it was still owed.
pub(super) fn delete(context: &mut Context<'_>, id: EndpointId, now: Time) -> Result<()> {
    let deleted = context
        .db
        .prepare_cached(include_str!("sql/endpoint_delete.sql"))?
        .execute(params![Blob(id.0), now])?;
    if deleted == 0 {
        return Err(Error::NotFound("endpoint"));
    }
    context
        .db
        .prepare_cached(include_str!("sql/delivery_cancel.sql"))?
        .execute(params![Blob(id.0)])?;
    context.routes.forget();
    Ok(())
}

fn event_types_exist(db: &Connection, endpoint: &Endpoint) -> Result<()> {
    let mut unknown = Vec::new();
    for name in endpoint.event_types.iter().flatten() {
        if !super::event_types::exists(db, name)? {
            unknown.push(name.clone());
        }
    }
    if unknown.is_empty() {
        Ok(())
    } else {
        Err(Error::UnknownEventTypes(unknown))
    }
}

impl SqliteStore {
    pub(super) async fn create_endpoint(&self, new: Endpoint, key: Option<Once>) -> Result<()> {
        self.write(move |context| {
            once(context, key.as_ref())?;
            event_types_exist(context.db, &new)?;
            write(context, &new)
        })
        .await
    }

    pub(super) async fn endpoint(&self, application: ApplicationId, key: &str) -> Result<Endpoint> {
        let (key, sealer) = (key.to_owned(), self.sealer.clone());
        self.read(move |db| {
            let id = key.parse().unwrap_or(EndpointId([0; 16]));
            db.prepare_cached(include_str!("sql/endpoint_find.sql"))?
                .query_row(params![Blob(application.0), Blob(id.0), key], |row| {
                    Ok(read(row, &sealer))
                })
                .optional()?
                .ok_or(Error::NotFound("endpoint"))?
        })
        .await
    }

    pub(super) async fn endpoints(
        &self,
        application: ApplicationId,
        page: Page<EndpointId>,
    ) -> Result<Listing<Endpoint>> {
        let sealer = self.sealer.clone();
        self.read(move |db| {
            let bounds = Bounds::of(&page);
            let mut statement =
                db.prepare_cached(&bounds.ordered(include_str!("sql/endpoint_list.sql")))?;
            let rows = statement.query_and_then(
                params![
                    Blob(application.0),
                    Blob(bounds.above.0),
                    Blob(bounds.below.0),
                    bounds.limit
                ],
                |row| read(row, &sealer),
            )?;
            Ok(listing(&page, rows.collect::<Result<_>>()?))
        })
        .await
    }

    pub(super) async fn change_endpoint(
        &self,
        id: EndpointId,
        now: Time,
        change: Change<Endpoint>,
        key: Option<Once>,
    ) -> Result<Endpoint> {
        self.write(move |context| {
            once(context, key.as_ref())?;
            let before = by_id(context.db, context.sealer, id)?;
            let mut endpoint = before.clone();
            change(&mut endpoint)?;
            if endpoint.event_types != before.event_types {
                event_types_exist(context.db, &endpoint)?;
            }
            write(context, &endpoint)?;
            if endpoint.disabled.is_some() != before.disabled.is_some() {
                hold_or_free(context, &endpoint, now)?;
            }
            Ok(endpoint)
        })
        .await
    }

    pub(super) async fn delete_endpoint(&self, id: EndpointId, now: Time) -> Result<()> {
        self.write(move |context| delete(context, id, now)).await
    }
}
