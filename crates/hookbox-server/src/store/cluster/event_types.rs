//! Event types.

use super::Shared;
use super::once::once;
use super::sql::sql;
use super::transaction::{Transaction, reading, transaction};
use super::trouble::Tried;
use crate::model::EventType;
use crate::store::columns::{Bounds, Value, event_type, listing};
use crate::store::{Error, Listing, Once, Page, Result};

async fn find(open: &mut Transaction, name: &str) -> Tried<Option<EventType>> {
    let row = open.find(sql!("event_type_find"), &[name.into()]).await?;
    Ok(row.as_ref().map(event_type::read).transpose()?)
}

pub(super) async fn exists(open: &mut Transaction, name: &str) -> Tried<bool> {
    Ok(find(open, name).await?.is_some_and(|found| !found.archived))
}

impl Shared {
    pub(super) async fn create_event_type(&self, new: EventType, key: Option<Once>) -> Result<()> {
        transaction!(self.pages, |open| {
            once(&mut open, key.as_ref(), &self.sealer).await?;
            if exists(&mut open, &new.name).await? {
                return Err(Error::Conflict("an event type with this name exists").into());
            }
            open.execute(sql!("event_type_put"), &event_type::write(&new))
                .await?;
            Ok(())
        })
    }

    pub(super) async fn event_type(&self, name: &str) -> Result<EventType> {
        let found = reading!(self.pages, |read| find(&mut read, name).await)?;
        found.ok_or(Error::NotFound("event type"))
    }

    pub(super) async fn event_types(
        &self,
        page: Page<String>,
        include_archived: bool,
    ) -> Result<Listing<EventType>> {
        let bounds = Bounds::of(&page);
        let values = [
            Value::from(&bounds.above),
            (&bounds.below).into(),
            include_archived.into(),
            bounds.limit.into(),
        ];
        let sql = sql!("event_type_list").ordered(bounds.down);
        let rows = reading!(self.pages, |read| read.query(sql, &values).await)?;
        let data = rows.iter().map(event_type::read).collect::<Result<_>>()?;
        Ok(listing(&page, data))
    }
}
