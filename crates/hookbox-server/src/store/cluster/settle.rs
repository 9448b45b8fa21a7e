//! Settling: results, and the moves that they cause, many in one transaction.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::oneshot;

use super::Shared;
use super::deliveries::settled_row;
use super::sql::{Dialect, Statement, sql};
use super::transaction::{Transaction, Tries, Writes, reading};
use super::trouble::{Tried, Trouble};
use crate::model::delivery::{Delivery, State};
use crate::model::endpoint::Disabled;
use crate::model::{ApplicationId, EndpointId, MessageId, Time};
use crate::store::columns::{Columns as _, Value, attempt};
use crate::store::{Error, Result, Settlement};
use crate::telemetry::metrics::metrics;

/// Results that wait to be written.
pub(super) struct Call {
    settlements: Vec<Settlement>,
    caller: oneshot::Sender<Result<Vec<bool>>>,
}

impl Shared {
    pub(super) async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<bool>> {
        let bytes = settlements
            .iter()
            .filter_map(|settlement| settlement.attempt.as_ref())
            .map(|attempt| attempt.response.len())
            .sum();
        let (caller, answer) = oneshot::channel();
        let call = Call {
            settlements,
            caller,
        };
        self.settling.push("", bytes, call)?;
        answer
            .await
            .map_err(|_| Error::Unavailable("the settler stopped".into()))?
    }

    /// Writes group after group, as long as the store lives.
    pub(super) async fn settler(self: Arc<Self>) {
        loop {
            let mut group = self.settling.next().await;
            let calls = std::mem::take(&mut group.calls);
            self.settle_calls(calls).await;
        }
    }

    async fn settle_calls(&self, calls: Vec<Call>) {
        let began = Instant::now();
        let settlements: Vec<&Settlement> =
            calls.iter().flat_map(|call| &call.settlements).collect();
        let mut tries = Tries::new();
        let moved = loop {
            match self.try_to_settle(&settlements).await {
                Ok(moved) => break Ok(moved),
                // One row that the database cannot hold must not take the others with it.
                Err(Trouble::Is(Error::Unreadable(why))) if calls.len() > 1 => {
                    tracing::warn!(%why, "a group is settled one by one");
                    for call in calls {
                        Box::pin(self.settle_calls(vec![call])).await;
                    }
                    return;
                }
                Err(trouble) => {
                    if let Err(error) = tries.again(trouble).await {
                        break Err(error);
                    }
                }
            }
        };
        metrics().committed(moved.is_ok(), calls.len(), began);
        if let Ok(moved) = &moved {
            self.settled(&settlements, moved);
        }
        let mut moved = moved.map(Vec::into_iter);
        for call in calls {
            let count = call.settlements.len();
            let answer = match &mut moved {
                Ok(moved) => Ok(moved.take(count).collect()),
                Err(error) => Err(error.clone()),
            };
            let _ = call.caller.send(answer);
        }
    }

    /// Tells this node when the next tries are due.
    fn settled(&self, settlements: &[&Settlement], moved: &[bool]) {
        let next = settlements
            .iter()
            .zip(moved)
            .filter_map(|(settlement, moved)| match settlement.delivery.state {
                State::Scheduled { at } if *moved => Some(at),
                _ => None,
            });
        if let Some(at) = next.min() {
            self.handoff.due_at(at);
        }
    }

    async fn try_to_settle(&self, settlements: &[&Settlement]) -> Tried<Vec<bool>> {
        let mut transaction = self.settle_pool.begin().await?;
        let (done, again): (Vec<_>, Vec<_>) = settlements
            .iter()
            .map(|settlement| &settlement.delivery)
            .partition(|delivery| is_final(delivery.state));
        let mut held = HashMap::new();
        find(&mut transaction, sql!("delivery_take"), done, &mut held).await?;
        find(&mut transaction, sql!("delivery_held"), again, &mut held).await?;
        let (mut moved, mut moves) = (Vec::new(), Moves::default());
        for settlement in settlements {
            let delivery = &settlement.delivery;
            let key = (delivery.message_id, delivery.endpoint_id, delivery.fence);
            let application = held.remove(&key);
            moved.push(application.is_some());
            if let Some(application) = application {
                moves.add(settlement, application);
            }
        }
        for endpoint in &moves.gone {
            disable(&mut transaction, *endpoint).await?;
        }
        let attempts = settlements
            .iter()
            .zip(&moved)
            .filter_map(|(settlement, moved)| {
                Some(attempt::write(settlement.attempt.as_ref()?, !moved).into())
            });
        let taken_already = self.settle_pool.dialect() == Dialect::Postgres;
        let mut writes = moves.writes(taken_already);
        writes.push((sql!("attempt_put"), attempts.collect()));
        match transaction.write_and_commit(writes).await {
            Ok(()) => Ok(moved),
            Err(Trouble::Unknown(why)) => match self.is_settled(settlements).await {
                Ok(true) => Ok(moved),
                Ok(false) => Err(Trouble::Again(why)),
                Err(error) => Err(error.into()),
            },
            Err(trouble) => Err(trouble),
        }
    }

    /// Whether a transaction was committed whose commit nobody saw: its attempts are all there, or none.
    async fn is_settled(&self, settlements: &[&Settlement]) -> Result<bool> {
        let Some(attempt) = settlements
            .iter()
            .find_map(|settlement| settlement.attempt.as_ref())
        else {
            // Nothing but leases given back: doing it again is harmless.
            return Ok(false);
        };
        let key = [
            Value::from(&attempt.message_id.0),
            Value::from(&attempt.id.0),
        ];
        reading!(self.settle_pool, |read| {
            Ok(read.find(sql!("attempt_find"), &key).await?.is_some())
        })
    }
}

fn is_final(state: State) -> bool {
    matches!(
        state,
        State::Delivered | State::Dead { .. } | State::Cancelled
    )
}

/// Deliveries that are still leased under the fence of their result, and whose they are.
type Held = HashMap<(MessageId, EndpointId, i64), ApplicationId>;

/// Takes or locks those that are held still, in one order for all who do so.
async fn find(
    transaction: &mut Transaction,
    sql: Statement,
    mut deliveries: Vec<&Delivery>,
    held: &mut Held,
) -> Tried<()> {
    deliveries.sort_unstable_by_key(|delivery| (delivery.message_id, delivery.endpoint_id));
    let rows: Vec<[Value<'_>; 3]> = deliveries
        .iter()
        .map(|delivery| {
            [
                (&delivery.message_id.0).into(),
                (&delivery.endpoint_id.0).into(),
                delivery.fence.into(),
            ]
        })
        .collect();
    for row in transaction.query_rows(sql, &rows).await? {
        held.insert(
            (
                MessageId(row.blob(0)?),
                EndpointId(row.blob(1)?),
                row.number(2)?,
            ),
            ApplicationId(row.blob(3)?),
        );
    }
    Ok(())
}

/// Where deliveries go.
#[derive(Default)]
struct Moves<'a> {
    settled: Vec<(&'a Settlement, ApplicationId)>,
    scheduled: Vec<(&'a Settlement, Option<Time>)>,
    /// Endpoints whose receivers are gone.
    gone: Vec<EndpointId>,
}

impl<'a> Moves<'a> {
    fn add(&mut self, settlement: &'a Settlement, application: ApplicationId) {
        if settlement.endpoint_gone {
            self.gone.push(settlement.delivery.endpoint_id);
        }
        match settlement.delivery.state {
            State::Scheduled { at } => self.scheduled.push((settlement, Some(at))),
            state if is_final(state) => self.settled.push((settlement, application)),
            _ => self.scheduled.push((settlement, None)),
        }
    }

    fn writes(&self, taken_already: bool) -> Writes<'_> {
        let rows: Vec<Vec<Value<'_>>> = self
            .settled
            .iter()
            .map(|(settlement, application)| settled_row(&settlement.delivery, application).into())
            .collect();
        let scheduled = self.scheduled.iter().map(|(settlement, at)| {
            let next = &settlement.delivery;
            vec![
                (&next.message_id.0).into(),
                (&next.endpoint_id.0).into(),
                (*at).into(),
                next.failures.into(),
                next.manual.into(),
            ]
        });
        vec![
            (
                sql!("delivery_delete"),
                rows.iter()
                    .filter(|_| !taken_already)
                    .map(|row| row[..2].to_vec())
                    .collect(),
            ),
            (sql!("delivery_schedule"), scheduled.collect()),
            (sql!("settled_put"), rows),
        ]
    }
}

/// Disables an endpoint whose receiver is gone.
async fn disable(transaction: &mut Transaction, id: EndpointId) -> Tried<()> {
    let key = [Value::from(&id.0), Disabled::Gone.code().into()];
    transaction.execute(sql!("endpoint_disable"), &key).await?;
    transaction
        .execute(sql!("application_touch_of_endpoint"), &key[..1])
        .await?;
    transaction
        .execute(sql!("delivery_hold"), &key[..1])
        .await?;
    Ok(())
}
