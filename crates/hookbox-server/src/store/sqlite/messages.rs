//! Messages in `SQLite`.

use rusqlite::{Connection, OptionalExtension, params};

use super::SqliteStore;
use super::rows::Blob;
use crate::model::{ApplicationId, Message, MessageId};
use crate::store::columns::{Bounds, json, listing, message};
use crate::store::{Error, Listing, MessageFilter, Page, Result};

pub(super) fn by_id(db: &Connection, application: ApplicationId, id: MessageId) -> Result<Message> {
    db.prepare_cached(include_str!("sql/message_by_id.sql"))?
        .query_row(params![Blob(application.0), Blob(id.0)], |row| {
            Ok(message::read(row))
        })
        .optional()?
        .ok_or(Error::NotFound("message"))?
}

impl SqliteStore {
    pub(super) async fn message(&self, application: ApplicationId, key: &str) -> Result<Message> {
        let key = key.to_owned();
        self.read(move |db| {
            let id = key.parse().unwrap_or(MessageId([0; 16]));
            db.prepare_cached(include_str!("sql/message_find.sql"))?
                .query_row(params![Blob(application.0), Blob(id.0), key], |row| {
                    Ok(message::read(row))
                })
                .optional()?
                .ok_or(Error::NotFound("message"))?
        })
        .await
    }

    pub(super) async fn messages(
        &self,
        application: ApplicationId,
        filter: MessageFilter,
        page: Page<MessageId>,
    ) -> Result<Listing<Message>> {
        self.read(move |db| {
            let bounds = Bounds::of(&page).within(&filter);
            let mut statement =
                db.prepare_cached(&bounds.ordered(include_str!("sql/message_list.sql")))?;
            let rows = statement.query_and_then(
                params![
                    Blob(application.0),
                    Blob(bounds.above.0),
                    Blob(bounds.below.0),
                    filter.event_types.as_ref().map(json),
                    filter.channel,
                    bounds.limit
                ],
                |row| message::read(row),
            )?;
            Ok(listing(&page, rows.collect::<Result<_>>()?))
        })
        .await
    }
}
