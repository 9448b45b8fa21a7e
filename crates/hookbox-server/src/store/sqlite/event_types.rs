//! Event types in `SQLite`.

use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::SqliteStore;
use super::once::once;
use crate::model::EventType;
use crate::store::columns::{Bounds, event_type, listing};
use crate::store::{Error, Listing, Once, Page, Result};

fn find(db: &Connection, name: &str) -> Result<Option<EventType>> {
    db.prepare_cached(include_str!("sql/event_type_find.sql"))?
        .query_row(params![name], |row| Ok(event_type::read(row)))
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
                .execute(params_from_iter(event_type::write(&new)))?;
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
                |row| event_type::read(row),
            )?;
            Ok(listing(&page, rows.collect::<Result<_>>()?))
        })
        .await
    }
}
