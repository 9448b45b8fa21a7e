//! Attempts in `SQLite`.

use rusqlite::{OptionalExtension, params};

use super::SqliteStore;
use super::rows::Blob;
use crate::model::{ApplicationId, Attempt, AttemptId, MessageId};
use crate::store::columns::{Bounds, attempt, json, listing};
use crate::store::{AttemptFilter, Error, Listing, Page, Result};

impl SqliteStore {
    pub(super) async fn attempts(
        &self,
        application: ApplicationId,
        filter: AttemptFilter,
        page: Page<AttemptId>,
    ) -> Result<Listing<Attempt>> {
        self.read(move |db| {
            let bounds = Bounds::<AttemptId>::of(&page).within(&filter.messages);
            let (sql, of, other) = match (filter.message, filter.endpoint) {
                (Some(message), endpoint) => (
                    include_str!("sql/attempt_of_message.sql"),
                    message.0,
                    endpoint.map(|id| id.0),
                ),
                (None, Some(endpoint)) => (
                    include_str!("sql/attempt_of_endpoint.sql"),
                    endpoint.0,
                    None,
                ),
                (None, None) => return Err(Error::NotFound("message or endpoint")),
            };
            let mut statement = db.prepare_cached(&bounds.ordered(sql))?;
            let rows = statement.query_and_then(
                params![
                    Blob(of),
                    Blob(bounds.above.0),
                    Blob(bounds.below.0),
                    Blob(application.0),
                    other.map(Blob),
                    filter.succeeded,
                    filter.status_class,
                    filter.messages.event_types.as_ref().map(json),
                    filter.messages.channel,
                    bounds.limit,
                ],
                |row| attempt::read(row, 0),
            )?;
            Ok(listing(&page, rows.collect::<Result<_>>()?))
        })
        .await
    }

    pub(super) async fn attempt(&self, message: MessageId, id: AttemptId) -> Result<Attempt> {
        self.read(move |db| {
            db.prepare_cached(include_str!("sql/attempt_find.sql"))?
                .query_row(params![Blob(message.0), Blob(id.0)], |row| {
                    Ok(attempt::read(row, 0))
                })
                .optional()?
                .ok_or(Error::NotFound("attempt"))?
        })
        .await
    }
}
