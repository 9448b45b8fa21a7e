//! Endpoints.

use super::applications::{says_yes, touch};
use super::once::once;
use super::sql::sql;
use super::transaction::{Transaction, reading, transaction};
use super::trouble::Tried;
use super::{Shared, deliveries, event_types};
use crate::model::{ApplicationId, Clock, Endpoint, EndpointId, Time};
use crate::store::columns::{Bounds, Value, endpoint, listing};
use crate::store::seal::Sealer;
use crate::store::{Change, Error, Listing, Once, Page, Result};

/// Writes an endpoint, new or changed.
pub(super) async fn write(open: &mut Transaction, new: &Endpoint, sealer: &Sealer) -> Tried<()> {
    if let Some(uid) = &new.uid {
        let values = [
            (&new.application_id.0).into(),
            uid.into(),
            (&new.id.0).into(),
        ];
        let taken = open.find(sql!("endpoint_uid_taken"), &values).await?;
        if says_yes(taken.as_ref())? {
            return Err(Error::Conflict("an endpoint with this uid exists").into());
        }
    }
    open.execute(sql!("endpoint_put"), &endpoint::write(new, sealer))
        .await?;
    touch(open, new.application_id).await
}

/// Deletes an endpoint and cancels what it was still owed.
pub(super) async fn delete(open: &mut Transaction, id: EndpointId, now: Time) -> Tried<()> {
    let values = [Value::from(&id.0), now.into()];
    if open.execute(sql!("endpoint_delete"), &values).await? == 0 {
        return Err(Error::NotFound("endpoint").into());
    }
    let key = [Value::from(&id.0)];
    open.execute(sql!("application_touch_of_endpoint"), &key)
        .await?;
    deliveries::cancel(open, id).await
}

/// Applies to what waits that the endpoint is enabled, or is not; returns whether something became due.
async fn hold_or_free(open: &mut Transaction, endpoint: &Endpoint, now: Time) -> Tried<bool> {
    let values = [Value::from(&endpoint.id.0), now.into()];
    if endpoint.disabled.is_some() {
        open.execute(sql!("delivery_hold"), &values[..1]).await?;
        return Ok(false);
    }
    Ok(open.execute(sql!("delivery_free"), &values).await? > 0)
}

async fn event_types_exist(open: &mut Transaction, endpoint: &Endpoint) -> Tried<()> {
    let mut unknown = Vec::new();
    for name in endpoint.event_types.iter().flatten() {
        if !event_types::exists(open, name).await? {
            unknown.push(name.clone());
        }
    }
    if unknown.is_empty() {
        Ok(())
    } else {
        Err(Error::UnknownEventTypes(unknown).into())
    }
}

impl Shared {
    pub(super) async fn create_endpoint(&self, new: Endpoint, key: Option<Once>) -> Result<()> {
        transaction!(self.pages, |open| {
            once(&mut open, key.as_ref(), &self.sealer).await?;
            event_types_exist(&mut open, &new).await?;
            write(&mut open, &new, &self.sealer).await
        })
    }

    pub(super) async fn endpoint(&self, application: ApplicationId, key: &str) -> Result<Endpoint> {
        let id = key.parse().unwrap_or(EndpointId([0; 16]));
        let values = [(&application.0).into(), (&id.0).into(), key.into()];
        let found = reading!(self.pages, |read| {
            read.find(sql!("endpoint_find"), &values).await
        })?;
        endpoint::read(&found.ok_or(Error::NotFound("endpoint"))?, &self.sealer)
    }

    pub(super) async fn endpoints(
        &self,
        application: ApplicationId,
        page: Page<EndpointId>,
    ) -> Result<Listing<Endpoint>> {
        let bounds = Bounds::of(&page);
        let values = [
            Value::from(&application.0),
            (&bounds.above.0).into(),
            (&bounds.below.0).into(),
            bounds.limit.into(),
        ];
        let sql = sql!("endpoint_list").ordered(bounds.down);
        let rows = reading!(self.pages, |read| read.query(sql, &values).await)?;
        let data = rows.iter().map(|row| endpoint::read(row, &self.sealer));
        Ok(listing(&page, data.collect::<Result<_>>()?))
    }

    pub(super) async fn change_endpoint(
        &self,
        id: EndpointId,
        now: Time,
        change: Change<Endpoint>,
        key: Option<Once>,
    ) -> Result<Endpoint> {
        let changed: Result<_> = transaction!(self.pages, |open| {
            once(&mut open, key.as_ref(), &self.sealer).await?;
            let row = open
                .find(sql!("endpoint_lock"), &[(&id.0).into()])
                .await?
                .ok_or(Error::NotFound("endpoint"))?;
            let before = endpoint::read(&row, &self.sealer)?;
            let mut endpoint = before.clone();
            change(&mut endpoint)?;
            if endpoint.event_types != before.event_types {
                event_types_exist(&mut open, &endpoint).await?;
            }
            write(&mut open, &endpoint, &self.sealer).await?;
            let turned = endpoint.disabled.is_some() != before.disabled.is_some();
            let due = turned && hold_or_free(&mut open, &endpoint, now).await?;
            Ok((endpoint, due))
        });
        let (endpoint, due) = changed?;
        if due {
            self.due(now);
        }
        Ok(endpoint)
    }

    pub(super) async fn delete_endpoint(&self, id: EndpointId, now: Time) -> Result<()> {
        transaction!(self.pages, |open| delete(&mut open, id, now).await)
    }

    /// Something became due then: this node and the others look at once.
    pub(super) fn due(&self, at: Time) {
        self.handoff.due_at(at.min(Clock.now()));
        self.wake.others();
    }
}
