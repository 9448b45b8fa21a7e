//! Event types in `SQLite`.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::SqliteStore;
use super::once::once;
use super::rows::{Bounds, from_json, json, listing};
use crate::model::EventType;
use crate::store::{Error, Listing, Once, Page, Result};

fn read(row: &Row<'_>) -> Result<EventType> {
    let schemas: Option<String> = row.get(4)?;
    Ok(EventType {
        name: row.get(0)?,
        description: row.get(1)?,
        archived: row.get(2)?,
        deprecated: row.get(3)?,
        schemas: schemas.map(|text| from_json(&text)).transpose()?,
        feature_flags: from_json(&row.get::<_, String>(5)?)?,
        group_name: row.get(6)?,
        created_at: row.get(7)?,
        updated_at: row.get(8)?,
    })
}

fn find(db: &Connection, name: &str) -> Result<Option<EventType>> {
    db.prepare_cached(include_str!("sql/event_type_find.sql"))?
        .query_row(params![name], |row| Ok(read(row)))
        .optional()?
        .transpose()
}

pub(super) fn exists(db: &Connection, name: &str) -> Result<bool> {
    Ok(find(db, name)?.is_some_and(|found| !found.archived))
}

impl SqliteStore {
    pub(super) async fn create_event_type(&self, new: EventType, key: Option<Once>) -> Result<()> {
        self.write(move |context| {
            once(context, key.as_ref())?;
            if exists(context.db, &new.name)? {
                return Err(Error::Conflict("an event type with this name exists"));
            }
            context
                .db
                .prepare_cached(include_str!("sql/event_type_put.sql"))?
                .execute(params![
                    new.name,
                    new.description,
                    new.archived,
                    new.deprecated,
                    new.schemas.as_ref().map(json),
                    json(&new.feature_flags),
                    new.group_name,
                    new.created_at,
                    new.updated_at,
                ])?;
            Ok(())
        })
        .await
    }

    pub(super) async fn event_type(&self, name: &str) -> Result<EventType> {
        let name = name.to_owned();
        self.read(move |db| find(db, &name)?.ok_or(Error::NotFound("event type")))
            .await
    }

    pub(super) async fn event_types(
        &self,
        page: Page<String>,
        include_archived: bool,
    ) -> Result<Listing<EventType>> {
        self.read(move |db| {
            let bounds = Bounds::of(&page);
            let mut statement =
                db.prepare_cached(&bounds.ordered(include_str!("sql/event_type_list.sql")))?;
            let rows = statement.query_and_then(
                params![bounds.above, bounds.below, include_archived, bounds.limit],
                read,
            )?;
            Ok(listing(&page, rows.collect::<Result<_>>()?))
        })
        .await
    }
}
