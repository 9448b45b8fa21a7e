//! Claiming: leases what is due, endpoint by endpoint, in one short transaction.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::Shared;
use super::deliveries::{cancel, settle_untried};
use super::plan::moved;
use super::sql::sql;
use super::transaction::{Transaction, transaction};
use super::trouble::Tried;
use crate::model::delivery::{Cause, Delivery, Event, State};
use crate::model::{ApplicationId, Endpoint, EndpointId, Message, MessageId, Time};
use crate::store::columns::{Columns as _, Value, delivery, message};
use crate::store::handoff::{Slot, Want};
use crate::store::{Claimed, Result, Work};

/// Rows that one look at an endpoint's queue reads at most.
const LOOK: usize = 256;
/// Endpoints that one claim looks at, at most, so that a claim stays short.
const ENDPOINTS: i64 = 256;
/// The pause before the rest of many endpoints is looked at, when nobody so far had room.
const REST: Duration = Duration::from_millis(50);
/// Deliveries that one claim takes, at most.
const MOST: usize = 512;

impl Shared {
    pub(super) async fn claim(&self, now: Time, lease_until: Time) -> Result<Claimed> {
        let claim: Result<Claim<'_>> = transaction!(self.engine_pool, |open| {
            self.handoff.begin_claim();
            let mut claim = Claim {
                shared: self,
                now,
                lease_until,
                taken: Vec::new(),
                messages: HashMap::new(),
                refused: false,
                next_due: None,
            };
            claim.run(&mut open).await?;
            Ok(claim)
        });
        let claim = claim?;
        let (next_due, taken) = (claim.next_due, claim.taken);
        let mut count = 0;
        for taken in taken {
            // Without a message it was settled, and its room comes free here.
            if let Some(message) = claim.messages.get(&taken.delivery.message_id) {
                count += 1;
                self.handoff.hand_over(Work {
                    delivery: taken.delivery,
                    message: Arc::clone(message),
                    endpoint: taken.endpoint,
                    slot: taken.slot,
                });
            }
        }
        if let Some(due) = next_due {
            self.handoff.due_at(due);
        }
        Ok(Claimed { next_due, count })
    }
}

/// A delivery that is being leased.
struct Taken {
    delivery: Delivery,
    application: ApplicationId,
    endpoint: Arc<Endpoint>,
    slot: Slot,
}

/// An endpoint that something waits for.
struct Waiting {
    endpoint: EndpointId,
    /// When the earliest first try is due.
    first: Option<Time>,
    /// When the earliest retry is due.
    again: Option<Time>,
    /// Of its application; `None` when it is deleted.
    revision: Option<i64>,
}

struct Claim<'a> {
    shared: &'a Shared,
    now: Time,
    lease_until: Time,
    taken: Vec<Taken>,
    messages: HashMap<MessageId, Arc<Message>>,
    /// Somebody was due and had no room.
    refused: bool,
    next_due: Option<Time>,
}

impl Waiting {
    fn due(&self) -> impl Iterator<Item = Time> {
        self.first.into_iter().chain(self.again)
    }
}

impl Claim<'_> {
    /// Looks into the queue of one endpoint after the other, beginning behind where the last claim ended, so
    /// that every endpoint has its turn however many there are and however long another's queue is.
    async fn run(&mut self, open: &mut Transaction) -> Tried<()> {
        let start = *self.turn();
        let first = EndpointId([0; 16]);
        let mut all = self.waiting(open, start).await?;
        let whole = i64::try_from(all.len()).is_ok_and(|count| count < ENDPOINTS);
        if whole && start != first {
            let before = self.waiting(open, first).await?;
            all.extend(
                before
                    .into_iter()
                    .filter(|waiting| waiting.endpoint <= start),
            );
        }
        let (mut last, mut turn) = (start, None);
        let mut looked_at_all = true;
        for waiting in &all {
            if self.taken.len() >= MOST {
                looked_at_all = false;
                break;
            }
            let now = self.now;
            if waiting.due().any(|due| due <= now) && self.shared.handoff.is_full(false) {
                // The next claim begins here. Until then one retry may be taken, whosever it is.
                turn.get_or_insert(last);
                if self.shared.handoff.is_full(true) {
                    break;
                }
            }
            self.look(open, waiting).await?;
            last = waiting.endpoint;
        }
        if !(whole && looked_at_all) {
            // The rest has its turn in the next claim. That is due at once, unless it too would be in vain.
            let in_vain = self.refused && self.taken.is_empty();
            let rest = if in_vain { REST } else { Duration::ZERO };
            self.is_due(self.now.plus(rest));
        }
        *self.turn() = turn.unwrap_or(last);
        self.lease(open).await
    }

    fn turn(&self) -> std::sync::MutexGuard<'_, EndpointId> {
        self.shared
            .turn
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn is_due(&mut self, at: Time) {
        self.next_due = Some(self.next_due.map_or(at, |known| known.min(at)));
    }

    async fn waiting(&self, open: &mut Transaction, after: EndpointId) -> Tried<Vec<Waiting>> {
        let values = [
            Value::from(&after.0),
            self.now.into(),
            Value::Int(ENDPOINTS),
        ];
        let rows = open.query(sql!("delivery_next_endpoint"), &values).await?;
        let waiting = rows.iter().map(|row| {
            Ok(Waiting {
                endpoint: EndpointId(row.blob(0)?),
                first: row.int(1)?.map(Time),
                again: row.int(2)?.map(Time),
                revision: row.int(3)?,
            })
        });
        Ok(waiting.collect::<Result<_>>()?)
    }

    async fn look(&mut self, open: &mut Transaction, waiting: &Waiting) -> Tried<()> {
        let shared = self.shared;
        let endpoint = match waiting.revision {
            Some(revision) => {
                shared
                    .routes
                    .endpoint(open, &shared.sealer, waiting.endpoint, revision)
                    .await?
            }
            None => None,
        };
        let key = [Value::from(&waiting.endpoint.0)];
        let Some(endpoint) = endpoint else {
            return cancel(open, waiting.endpoint).await;
        };
        if endpoint.disabled.is_some() {
            open.execute(sql!("delivery_hold"), &key).await?;
            return Ok(());
        }
        for (due, retry) in [(waiting.first, false), (waiting.again, true)] {
            match due {
                Some(at) if at <= self.now => self.take(open, &endpoint, retry).await?,
                Some(at) => self.is_due(at),
                None => {}
            }
        }
        Ok(())
    }

    async fn take(
        &mut self,
        open: &mut Transaction,
        endpoint: &Arc<Endpoint>,
        retry: bool,
    ) -> Tried<()> {
        let want = Want::any(endpoint, retry);
        let room = self.shared.handoff.room(&want);
        if room == 0 {
            self.refused = true;
            return Ok(());
        }
        // One more than there is room for, so that it is told that it has to wait.
        let look = LOOK.min(room.saturating_add(1));
        let values = [
            Value::from(&endpoint.id.0),
            retry.into(),
            self.now.into(),
            Value::Int(i64::try_from(look).unwrap_or(i64::MAX)),
        ];
        let found = open.query(sql!("delivery_due"), &values).await?;
        let all_seen = found.len() < look;
        for row in found {
            let due = delivery::read(&row, 0)?;
            let bytes = row.number(9)?;
            let Some(slot) = self.shared.handoff.reserve(Want { bytes, ..want }) else {
                self.refused = true;
                return Ok(());
            };
            let until = self.lease_until;
            self.taken.push(Taken {
                delivery: moved(due, Event::Claimed { until }, self.now)?,
                application: ApplicationId(row.blob(8)?),
                endpoint: Arc::clone(endpoint),
                slot,
            });
        }
        if !all_seen {
            // There may be more, and room for it.
            self.is_due(self.now);
        }
        Ok(())
    }

    /// Writes the leases, and reads what is to be delivered.
    async fn lease(&mut self, open: &mut Transaction) -> Tried<()> {
        let rows: Vec<[Value<'_>; 3]> = self
            .taken
            .iter()
            .map(|taken| {
                [
                    (&taken.delivery.message_id.0).into(),
                    (&taken.delivery.endpoint_id.0).into(),
                    self.lease_until.into(),
                ]
            })
            .collect();
        open.execute_rows(sql!("delivery_lease"), &rows).await?;
        let keys: Vec<[Value<'_>; 2]> = self
            .taken
            .iter()
            .map(|taken| {
                [
                    (&taken.application.0).into(),
                    (&taken.delivery.message_id.0).into(),
                ]
            })
            .collect();
        for row in open.query_rows(sql!("message_by_id"), &keys).await? {
            let message = message::read(&row)?;
            self.messages.insert(message.id, Arc::new(message));
        }
        self.expire(open).await
    }

    /// What has no payload any more cannot be delivered.
    async fn expire(&self, open: &mut Transaction) -> Tried<()> {
        let state = State::Dead {
            cause: Cause::Expired,
        };
        let gone: Vec<_> = self
            .taken
            .iter()
            .filter(|taken| !self.messages.contains_key(&taken.delivery.message_id))
            .map(|taken| {
                (
                    Delivery {
                        state,
                        ..taken.delivery
                    },
                    taken.application,
                )
            })
            .collect();
        settle_untried(open, &gone).await
    }
}
