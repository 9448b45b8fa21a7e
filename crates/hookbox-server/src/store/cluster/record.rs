//! Recording: many calls in one transaction, one statement for each table.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::known::{Asked, Known, rows};
use super::sql::sql;
use super::transaction::{Transaction, Tries};
use super::trouble::{Tried, Trouble};
use super::{Shared, plan::Plan};
use crate::store::columns::Value;
use crate::store::{Draft, Error, Recorded, Result};
use crate::telemetry::metrics::metrics;

/// How long a caller waits before it is told to come back: senders of webhooks do not wait long.
const PATIENCE: Duration = Duration::from_millis(900);

/// A call that waits to be written.
pub(super) struct Call {
    pub(super) drafts: Vec<Draft>,
    caller: oneshot::Sender<Result<Vec<Recorded>>>,
}

impl Shared {
    pub(super) async fn record(&self, drafts: Vec<Draft>) -> Result<Vec<Recorded>> {
        let bytes = drafts.iter().map(|draft| draft.payload.len()).sum();
        let owner = drafts
            .first()
            .map_or_else(String::new, |draft| draft.application.clone());
        let (caller, answer) = oneshot::channel();
        self.recording
            .push(&owner, bytes, Call { drafts, caller })?;
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(Error::Unavailable("the recorder stopped".into())),
            Err(_) => Err(Error::Unavailable(
                "the database did not answer in time".into(),
            )),
        }
    }

    /// Writes group after group, as long as the store lives.
    pub(super) async fn recorder(self: Arc<Self>) {
        loop {
            let mut group = self.recording.next().await;
            let mut calls = std::mem::take(&mut group.calls);
            while !calls.is_empty() {
                // Nobody waits for these any more, so nobody was told that they are recorded.
                calls.retain(|call| !call.caller.is_closed());
                calls = self.write(calls).await;
            }
        }
    }

    /// Writes calls and answers them. Returns those that name what another of them has just made: they are
    /// written after it.
    async fn write(&self, calls: Vec<Call>) -> Vec<Call> {
        let began = Instant::now();
        let (mut tries, mut doubted) = (Tries::new(), false);
        let failed = loop {
            match self.try_to_write(&calls, &mut doubted).await {
                Ok((plan, results)) => {
                    metrics().committed(true, calls.len(), began);
                    self.commit_done(plan);
                    return answer(calls, results);
                }
                // One row that the database cannot hold must not take the others with it.
                Err(Trouble::Is(Error::Unreadable(why))) if calls.len() > 1 => {
                    tracing::warn!(%why, "a group is written one by one");
                    for call in calls {
                        Box::pin(self.write(vec![call])).await;
                    }
                    return Vec::new();
                }
                Err(trouble) => {
                    if let Err(error) = tries.again(trouble).await {
                        break error;
                    }
                }
            }
        };
        metrics().committed(false, calls.len(), began);
        tracing::error!(error = %failed, calls = calls.len(), "nothing was written");
        for call in calls {
            let _ = call.caller.send(Err(failed.clone()));
        }
        Vec::new()
    }

    /// Doubted is a commit that nobody saw and that was not to be found. It may have been under way still: then the
    /// rows of the next try meet its rows.
    async fn try_to_write(&self, calls: &[Call], doubted: &mut bool) -> Tried<(Plan, Vec<Answer>)> {
        let mut transaction = self.doors_pool.begin().await?;
        let (plan, results) = self.prepare(&mut transaction, calls).await?;
        let writes = plan.writes(&self.sealer);
        let why = match transaction.write_and_commit(writes).await {
            Ok(()) => return Ok((plan, results)),
            Err(Trouble::Unknown(why)) => {
                *doubted = true;
                why
            }
            Err(Trouble::Again(why)) if *doubted => why,
            Err(trouble) => return Err(trouble),
        };
        // Ask whether it happened before anyone is told anything.
        if self.is_recorded(&plan).await? {
            Ok((plan, results))
        } else {
            Err(Trouble::Again(why))
        }
    }

    /// Whether a transaction was committed whose commit nobody saw: its messages are all there.
    async fn is_recorded(&self, plan: &Plan) -> Result<bool> {
        let keys: Vec<[Value<'_>; 2]> = plan
            .messages
            .iter()
            .map(|message| [(&message.application_id.0).into(), (&message.id.0).into()])
            .collect();
        let found = super::transaction::reading!(self.doors_pool, |read| {
            Ok(read.query_rows(sql!("message_by_id"), &keys).await?.len())
        })?;
        // One without messages only counted duplicates.
        Ok(found == keys.len())
    }

    /// Checks everything; what is refused leaves no trace in the plan.
    async fn prepare(
        &self,
        transaction: &mut Transaction,
        calls: &[Call],
    ) -> Tried<(Plan, Vec<Answer>)> {
        // Each read sees what was committed before it, so what overrules the others is read last: who finds an event
        // id that a repeat of the same request has just written then finds its key too.
        let asked = Asked::by(calls);
        let (keys_now, keys_last) = if asked.event_ids.is_empty() {
            (asked.keys.as_slice(), [].as_slice())
        } else {
            ([].as_slice(), asked.keys.as_slice())
        };
        let [revisions, receipts, mut keys] = transaction
            .query_all([
                (sql!("application_revision"), rows(&asked.applications)),
                (sql!("receipt_find"), rows(&asked.receipts)),
                (sql!("idempotency_find"), rows(keys_now)),
            ])
            .await?;
        let routes = self
            .routes
            .of(transaction, &self.sealer, &asked.names, &revisions)
            .await?;
        let event_ids = asked.event_ids_of(&routes);
        let [event_ids, last] = transaction
            .query_all([
                (sql!("event_id_find"), rows(&event_ids)),
                (sql!("idempotency_find"), rows(keys_last)),
            ])
            .await?;
        keys.extend(last);
        let known = Known::read(routes, &receipts, &event_ids, &keys)?;
        let mut plan = Plan::new(self.handoff.clone());
        // What is known and not refused is too old.
        plan.has_old_keys = known.has_keys();
        let mut made = HashSet::new();
        let results = calls.iter().map(|call| {
            let names = call.drafts.iter().flat_map(|draft| known.new_names(draft));
            let names: Vec<_> = names.collect();
            if names.iter().any(|name| made.contains(name)) {
                return None;
            }
            let result = known.add(call, &mut plan, &self.sealer);
            if result.is_ok() {
                made.extend(names);
            }
            Some(result)
        });
        let results = results.collect();
        Ok((plan, results))
    }
}

/// What becomes of a call; nothing yet when it names what another call of its group makes.
type Answer = Option<Result<Vec<Recorded>>>;

/// Answers calls; returns those that have no answer yet.
fn answer(calls: Vec<Call>, answers: Vec<Answer>) -> Vec<Call> {
    let mut later = Vec::new();
    for (call, answer) in calls.into_iter().zip(answers) {
        match answer {
            Some(result) => {
                let _ = call.caller.send(result);
            }
            None => later.push(call),
        }
    }
    later
}

impl Shared {
    /// Gives out what a commit made.
    fn commit_done(&self, plan: Plan) {
        let waits = plan.waits;
        for work in plan.into_work() {
            self.handoff.hand_over(work);
        }
        if waits {
            self.wake.others();
        }
    }
}
