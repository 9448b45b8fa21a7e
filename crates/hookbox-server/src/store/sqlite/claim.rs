//! Claiming in `SQLite`: leases what is due, endpoint by endpoint.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{OptionalExtension, params};

use super::rows::Blob;
use super::writer::Context;
use super::{SqliteStore, endpoints, messages};
use crate::model::delivery::{Delivery, Event};
use crate::model::{Endpoint, EndpointId, Message, MessageId, Schedule, Time};
use crate::store::columns::delivery;
use crate::store::{Claimed, Error, Result, Work};

/// Rows that one look at an endpoint's queue reads at most.
const LOOK: u32 = 256;
/// Endpoints whose queues one claim looks into at most, so that a claim stays short.
const ENDPOINTS: usize = 1024;

impl SqliteStore {
    pub(super) async fn claim(&self, now: Time, lease_until: Time) -> Result<Claimed> {
        self.write(move |context| {
            Claim {
                context,
                now,
                lease_until,
                count: 0,
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
    count: usize,
    next_due: Option<Time>,
}

impl Claim<'_, '_> {
    /// Looks into the queue of one endpoint after the other, beginning behind where the last claim ended,
    /// so that every endpoint has its turn however many there are and however long another's queue is.
    fn run(mut self) -> Result<Claimed> {
        self.context.handoff.begin_claim();
        let start = self.context.routes.turn;
        let (mut at, mut wrapped, mut looked) = (start, start == EndpointId([0; 16]), 0);
        loop {
            let next = self
                .next_endpoint(at)?
                .filter(|(id, _)| !wrapped || start == EndpointId([0; 16]) || *id <= start);
            let Some((endpoint, due)) = next else {
                if wrapped {
                    break;
                }
                (at, wrapped) = (EndpointId([0; 16]), true);
                continue;
            };
            if looked == ENDPOINTS {
                // The rest has its turn in the next claim, which is due at once.
                self.next_due = Some(self.now);
                break;
            }
            looked += 1;
            if due > self.now {
                self.next_due = Some(self.next_due.map_or(due, |known| known.min(due)));
            } else if self.context.handoff.is_full() {
                break;
            } else {
                self.take(endpoint)?;
            }
            at = endpoint;
        }
        self.context.routes.turn = at;
        if let Some(due) = self.next_due {
            self.context.due_at(due);
        }
        Ok(Claimed {
            next_due: self.next_due,
            count: self.count,
        })
    }

    fn next_endpoint(&self, after: EndpointId) -> Result<Option<(EndpointId, Time)>> {
        let mut statement = self
            .context
            .db
            .prepare_cached(include_str!("sql/delivery_next_endpoint.sql"))?;
        let row = statement.query_row(params![Blob(after.0)], |row| {
            Ok((EndpointId(row.get::<_, Blob<16>>(0)?.0), row.get(1)?))
        });
        Ok(row.optional()?)
    }

    fn take(&mut self, id: EndpointId) -> Result<()> {
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
        let mut loaded = HashMap::new();
        for due in self.due(id)? {
            let message = self.message(&endpoint, due.message_id, &mut loaded)?;
            let Some(slot) = self.context.handoff.reserve(id, message.payload.len()) else {
                return Ok(());
            };
            let delivery = moved(
                due,
                Event::Claimed {
                    until: self.lease_until,
                },
                self.now,
            )?;
            self.context
                .db
                .prepare_cached(include_str!("sql/delivery_lease.sql"))?
                .execute(params![
                    Blob(due.message_id.0),
                    Blob(id.0),
                    self.lease_until,
                    delivery.fence,
                ])?;
            self.context.work.push(Work {
                delivery,
                message,
                endpoint: Arc::clone(&endpoint),
                slot,
            });
            self.count += 1;
        }
        Ok(())
    }

    fn due(&self, id: EndpointId) -> Result<Vec<Delivery>> {
        let mut statement = self
            .context
            .db
            .prepare_cached(include_str!("sql/delivery_due.sql"))?;
        let rows = statement.query_and_then(params![Blob(id.0), self.now, LOOK], |row| {
            delivery::read(row, 0)
        })?;
        rows.collect()
    }

    fn message(
        &self,
        endpoint: &Endpoint,
        id: MessageId,
        loaded: &mut HashMap<MessageId, Arc<Message>>,
    ) -> Result<Arc<Message>> {
        if let Some(message) = loaded.get(&id) {
            return Ok(Arc::clone(message));
        }
        let message = Arc::new(messages::by_id(
            self.context.db,
            endpoint.application_id,
            id,
        )?);
        loaded.insert(id, Arc::clone(&message));
        Ok(message)
    }
}
