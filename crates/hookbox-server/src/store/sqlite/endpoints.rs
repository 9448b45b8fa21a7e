//! Endpoints in `SQLite`.

use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::SqliteStore;
use super::once::once;
use super::rows::Blob;
use super::writer::Context;
use crate::model::{ApplicationId, Endpoint, EndpointId, Time};
use crate::store::columns::{Bounds, endpoint, listing};
use crate::store::seal::Sealer;
use crate::store::{Change, Error, Listing, Once, Page, Result};

/// Writes an endpoint, new or changed.
pub(super) fn write(context: &mut Context<'_>, endpoint: &Endpoint) -> Result<()> {
    uid_is_free(context.db, endpoint)?;
    context
        .db
        .prepare_cached(include_str!("sql/endpoint_put.sql"))?
        .execute(params_from_iter(endpoint::write(endpoint, context.sealer)))?;
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
        .query_row(params![Blob(id.0)], |row| Ok(endpoint::read(row, sealer)))
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
                    Ok(endpoint::read(row, &sealer))
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
                |row| endpoint::read(row, &sealer),
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
