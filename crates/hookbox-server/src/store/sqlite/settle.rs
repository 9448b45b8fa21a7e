//! Settling in `SQLite`: a result, and the move that it causes.

use rusqlite::{params, params_from_iter};

use super::SqliteStore;
use super::rows::Blob;
use super::writer::Context;
use crate::model::delivery::State;
use crate::model::endpoint::Disabled;
use crate::model::{Attempt, EndpointId};
use crate::store::columns::{attempt, delivery::cause};
use crate::store::{Result, Settlement};

impl SqliteStore {
    pub(super) async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<bool>> {
        self.write_checked(move |context| {
            settlements
                .iter()
                .map(|settlement| settle(context, settlement))
                .collect()
        })
        .await
    }
}

fn settle(context: &mut Context<'_>, settlement: &Settlement) -> Result<bool> {
    let delivery = &settlement.delivery;
    let moved = context
        .db
        .prepare_cached(include_str!("sql/delivery_settle.sql"))?
        .execute(params![
            Blob(delivery.message_id.0),
            Blob(delivery.endpoint_id.0),
            delivery.fence,
            delivery.state.code(),
            delivery.state.due(),
            delivery.failures,
            delivery.manual,
            cause(delivery.state),
        ])?
        == 1;
    if let Some(attempt) = &settlement.attempt {
        insert_attempt(context, attempt, !moved)?;
    }
    if !moved {
        return Ok(false);
    }
    if let State::Scheduled { at } = delivery.state {
        context.due_at(at);
    }
    if settlement.endpoint_gone {
        disable(context, delivery.endpoint_id)?;
    }
    Ok(true)
}

fn insert_attempt(context: &Context<'_>, attempt: &Attempt, late: bool) -> Result<()> {
    context
        .db
        .prepare_cached(include_str!("sql/attempt_put.sql"))?
        .execute(params_from_iter(attempt::write(attempt, late)))?;
    Ok(())
}

fn disable(context: &mut Context<'_>, id: EndpointId) -> Result<()> {
    context
        .db
        .prepare_cached(include_str!("sql/endpoint_disable.sql"))?
        .execute(params![Blob(id.0), Disabled::Gone.code()])?;
    context
        .db
        .prepare_cached(include_str!("sql/delivery_hold.sql"))?
        .execute(params![Blob(id.0)])?;
    context.routes.forget();
    Ok(())
}
