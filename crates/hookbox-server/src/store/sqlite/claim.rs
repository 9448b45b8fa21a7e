//! Claiming in `SQLite`: leases what is due, endpoint by endpoint.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{OptionalExtension, params};

use super::rows::Blob;
use super::writer::Context;
use super::{SqliteStore, endpoints, messages};
use crate::model::delivery::{Delivery, Event};
use crate::model::{Endpoint, EndpointId, Message, MessageId, Schedule, Time};
use crate::store::columns::delivery;
use crate::store::handoff::Want;
use crate::store::{Claimed, Error, Result, Work};

/// Rows that one look at an endpoint's queue reads at most.
const LOOK: usize = 256;
/// Endpoints whose queues one claim looks into at most, so that a claim stays short.
const ENDPOINTS: usize = 1024;
/// The time from a claim that looked in vain to the next.
const REST: Duration = Duration::from_millis(100);

impl SqliteStore {
    pub(super) async fn claim(&self, now: Time, lease_until: Time) -> Result<Claimed> {
        self.write(move |context| {
            Claim {
                context,
                now,
                lease_until,
                messages: HashMap::new(),
                count: 0,
                refused: false,
                next_due: None,
            }
            .run()
        })
        .await
    }
}

/// A move that needs no dice and no schedule.
pub(super) fn moved(delivery: Delivery, event: Event, now: Time) -> Result<Delivery> {
    delivery
        .after(event, now, 0.0, &Schedule::own_app())
        .map_err(|error| Error::Unreadable(error.to_string()))
}

struct Claim<'a, 'b> {
    context: &'a mut Context<'b>,
    now: Time,
    lease_until: Time,
    /// Those that this claim has read: a message often goes to several endpoints.
    messages: HashMap<MessageId, Arc<Message>>,
    count: usize,
    /// Somebody was due and had no room.
    refused: bool,
    next_due: Option<Time>,
}

/// An endpoint with deliveries, and when the first of each kind is due.
struct Queue {
    endpoint: EndpointId,
    first_tries: Option<Time>,
    retries: Option<Time>,
}

impl Queue {
    fn due(&self) -> impl Iterator<Item = Time> {
        self.first_tries.into_iter().chain(self.retries)
    }
}

impl Claim<'_, '_> {
    /// Looks into the queue of one endpoint after the other, beginning behind where the last claim ended,
    /// so that every endpoint has its turn however many there are and however long another's queue is.
    fn run(mut self) -> Result<Claimed> {
        self.context.handoff.begin_claim();
        let start = self.context.routes.turn;
        let (mut at, mut wrapped, mut looked) = (start, start == EndpointId([0; 16]), 0);
        let mut turn = None;
        loop {
            let next = self.next_queue(at)?.filter(|queue| {
                !wrapped || start == EndpointId([0; 16]) || queue.endpoint <= start
            });
            let Some(queue) = next else {
                if wrapped {
                    break;
                }
                (at, wrapped) = (EndpointId([0; 16]), true);
                continue;
            };
            if looked == ENDPOINTS {
                // The rest has its turn in the next claim. That is due at once, unless it too would be in vain.
                let in_vain = self.refused && self.count == 0;
                let rest = if in_vain { REST } else { Duration::ZERO };
                self.due_at(self.now.plus(rest));
                break;
            }
            looked += 1;
            let now = self.now;
            for later in queue.due().filter(|due| *due > now) {
                self.due_at(later);
            }
            if queue.due().any(|due| due <= now) {
                if self.context.handoff.is_full(false) {
                    // The next claim begins here. Until then one retry may be taken, whosever it is.
                    turn.get_or_insert(at);
                    if self.context.handoff.is_full(true) {
                        break;
                    }
                }
                self.take(&queue)?;
            }
            at = queue.endpoint;
        }
        self.context.routes.turn = turn.unwrap_or(at);
        if let Some(due) = self.next_due {
            self.context.due_at(due);
        }
        Ok(Claimed {
            next_due: self.next_due,
            count: self.count,
        })
    }

    fn due_at(&mut self, at: Time) {
        self.next_due = Some(self.next_due.map_or(at, |known| known.min(at)));
    }

    fn next_queue(&self, after: EndpointId) -> Result<Option<Queue>> {
        let mut statement = self
            .context
            .db
            .prepare_cached(include_str!("sql/delivery_next_endpoint.sql"))?;
        let row = statement.query_row(params![Blob(after.0)], |row| {
            Ok(Queue {
                endpoint: EndpointId(row.get::<_, Blob<16>>(0)?.0),
                first_tries: row.get(1)?,
                retries: row.get(2)?,
            })
        });
        Ok(row.optional()?)
    }

    /// First tries before retries.
    fn take(&mut self, queue: &Queue) -> Result<()> {
        let id = queue.endpoint;
        let endpoint = self
            .context
            .routes
            .endpoint(self.context.db, self.context.sealer, id)?;
        let Some(endpoint) = endpoint else {
            self.context
                .db
                .prepare_cached(include_str!("sql/delivery_cancel.sql"))?
                .execute(params![Blob(id.0)])?;
            return Ok(());
        };
        if endpoint.disabled.is_some() {
            return endpoints::hold_or_free(self.context, &endpoint, self.now);
        }
        for (retry, due) in [(false, queue.first_tries), (true, queue.retries)] {
            if due.is_some_and(|due| due <= self.now) {
                self.take_kind(&endpoint, retry)?;
            }
        }
        Ok(())
    }

    /// Leases what there is room for. One more is read, so that it is told that it has to wait.
    fn take_kind(&mut self, endpoint: &Arc<Endpoint>, retry: bool) -> Result<()> {
        let room = self.context.handoff.room(&Want::any(endpoint, retry));
        if room == 0 {
            self.refused = true;
            return Ok(());
        }
        let look = LOOK.min(room.saturating_add(1));
        let found = self.due(endpoint.id, retry, look)?;
        let all_seen = found.len() < look;
        for due in found {
            if !self.lease(endpoint, due)? {
                return Ok(());
            }
        }
        if !all_seen {
            // There may be more, and room for it.
            self.due_at(self.now);
        }
        Ok(())
    }

    /// Leases one, if there is room.
    fn lease(&mut self, endpoint: &Arc<Endpoint>, due: Delivery) -> Result<bool> {
        let message = self.message(endpoint, due.message_id)?;
        let want = Want::of(&due, &message, endpoint);
        let Some(slot) = self.context.handoff.reserve(want) else {
            return Ok(false);
        };
        let until = self.lease_until;
        let delivery = moved(due, Event::Claimed { until }, self.now)?;
        self.context
            .db
            .prepare_cached(include_str!("sql/delivery_lease.sql"))?
            .execute(params![
                Blob(due.message_id.0),
                Blob(endpoint.id.0),
                until,
                delivery.fence,
            ])?;
        self.context.work.push(Work {
            delivery,
            message,
            endpoint: Arc::clone(endpoint),
            slot,
        });
        self.count += 1;
        Ok(true)
    }

    fn due(&self, id: EndpointId, retry: bool, look: usize) -> Result<Vec<Delivery>> {
        let mut statement = self
            .context
            .db
            .prepare_cached(include_str!("sql/delivery_due.sql"))?;
        let look = i64::try_from(look).unwrap_or(i64::MAX);
        let rows = statement.query_and_then(params![Blob(id.0), retry, self.now, look], |row| {
            delivery::read(row, 0)
        })?;
        rows.collect()
    }

    fn message(&mut self, endpoint: &Endpoint, id: MessageId) -> Result<Arc<Message>> {
        if let Some(message) = self.messages.get(&id) {
            return Ok(Arc::clone(message));
        }
        let message = messages::by_id(self.context.db, endpoint.application_id, id)?;
        let message = Arc::new(message);
        self.messages.insert(id, Arc::clone(&message));
        Ok(message)
    }
}
