//! Messages and their attempts, as they are looked at.

use super::Shared;
use super::known::event_id_key;
use super::sql::sql;
use super::transaction::reading;
use crate::model::{ApplicationId, Attempt, AttemptId, Message, MessageId};
use crate::store::columns::{Bounds, Value, attempt, json, listing, message};
use crate::store::{AttemptFilter, Error, Listing, MessageFilter, Page, Result};

impl Shared {
    pub(super) async fn message(&self, application: ApplicationId, key: &str) -> Result<Message> {
        let id = key.parse().unwrap_or(MessageId([0; 16]));
        let name = event_id_key(application, key);
        let values = [(&application.0).into(), (&id.0).into(), (&name).into()];
        let found = reading!(self.pages, |read| {
            read.find(sql!("message_find"), &values).await
        })?;
        message::read(&found.ok_or(Error::NotFound("message"))?)
    }

    pub(super) async fn messages(
        &self,
        application: ApplicationId,
        filter: MessageFilter,
        page: Page<MessageId>,
    ) -> Result<Listing<Message>> {
        let bounds = Bounds::of(&page).within(&filter);
        let values = [
            Value::from(&application.0),
            (&bounds.above.0).into(),
            (&bounds.below.0).into(),
            filter.event_types.as_ref().map(json).into(),
            filter.channel.as_ref().into(),
            bounds.limit.into(),
        ];
        let sql = sql!("message_list").ordered(bounds.down);
        let rows = reading!(self.pages, |read| read.query(sql, &values).await)?;
        let data = rows.iter().map(message::read).collect::<Result<_>>()?;
        Ok(listing(&page, data))
    }

    pub(super) async fn attempts(
        &self,
        application: ApplicationId,
        filter: AttemptFilter,
        page: Page<AttemptId>,
    ) -> Result<Listing<Attempt>> {
        let bounds = Bounds::<AttemptId>::of(&page).within(&filter.messages);
        let endpoint = filter.endpoint.map(|id| id.0);
        let (sql, of, other) = match (filter.message, endpoint) {
            (Some(message), endpoint) => (sql!("attempt_of_message"), message.0, endpoint),
            (None, Some(endpoint)) => (sql!("attempt_of_endpoint"), endpoint, None),
            (None, None) => return Err(Error::NotFound("message or endpoint")),
        };
        let values = [
            Value::from(&of),
            (&bounds.above.0).into(),
            (&bounds.below.0).into(),
            (&application.0).into(),
            other.as_ref().into(),
            filter.succeeded.into(),
            filter.status_class.into(),
            filter.messages.event_types.as_ref().map(json).into(),
            filter.messages.channel.as_ref().into(),
            bounds.limit.into(),
        ];
        let sql = sql.ordered(bounds.down);
        let rows = reading!(self.pages, |read| read.query(sql, &values).await)?;
        let data = rows.iter().map(|row| attempt::read(row, 0));
        Ok(listing(&page, data.collect::<Result<_>>()?))
    }

    pub(super) async fn attempt(&self, message: MessageId, id: AttemptId) -> Result<Attempt> {
        let values = [(&message.0).into(), (&id.0).into()];
        let found = reading!(self.pages, |read| {
            read.find(sql!("attempt_find"), &values).await
        })?;
        attempt::read(&found.ok_or(Error::NotFound("attempt"))?, 0)
    }
}
