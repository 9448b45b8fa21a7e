//! The hot path in `SQLite`: record, claim, settle.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{OptionalExtension, params};

use super::rows::{Blob, cause, delivery as read_delivery, json};
use super::writer::Context;
use super::{SqliteStore, endpoints, messages, once};
use crate::model::delivery::{Delivery, Event, State};
use crate::model::endpoint::Disabled;
use crate::model::{Attempt, Endpoint, EndpointId, Message, MessageId, Schedule, Time};
use crate::store::{Claimed, Draft, Error, Recorded, Result, Seen, Settlement, Work};

/// Rows that one look at an endpoint's queue reads at most.
const LOOK: u32 = 256;
/// Endpoints whose queues one claim looks into at most, so that a claim stays short.
const ENDPOINTS: usize = 1024;

impl SqliteStore {
    pub(super) async fn record(
        &self,
        mut drafts: Vec<Draft>,
        lease: Time,
    ) -> Result<Vec<Recorded>> {
        // A lone draft is checked before anything is written; a later one of several is not.
        if drafts.len() == 1
            && let Some(draft) = drafts.pop()
        {
            return self
                .write_checked(move |context| record(context, draft, lease).map(|done| vec![done]))
                .await;
        }
        self.write(move |context| {
            drafts
                .into_iter()
                .map(|draft| record(context, draft, lease))
                .collect()
        })
        .await
    }

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

/// Checks everything, then writes: a refusal comes before the first write.
fn record(context: &mut Context<'_>, draft: Draft, lease: Time) -> Result<Recorded> {
    once::check(context, draft.once.as_ref())?;
    let route = context
        .routes
        .of(context.db, context.sealer, &draft.application)?;
    let receipt = draft
        .seen
        .as_ref()
        .map(|seen| look_for(context, seen))
        .transpose()?;
    if let (Some(Known::SameBytes(first)), Some(seen)) = (receipt, &draft.seen) {
        count_again(context, seen)?;
        return Ok(Recorded::Duplicate(first));
    }
    let message = Arc::new(Message {
        id: draft.id,
        application_id: route.application,
        event_id: draft.event_id,
        event_type: draft.event_type,
        channels: draft.channels,
        content_type: draft.content_type,
        payload: draft.payload,
        source: draft.seen.as_ref().map(|seen| seen.source_id),
        headers: draft.headers,
        quarantined: matches!(receipt, Some(Known::OtherBytes)),
        created_at: draft.created_at,
    });
    insert_message(context, &message)?;
    once::remember(context, draft.once.as_ref())?;
    if let Some(seen) = &draft.seen {
        insert_receipt(context, seen, &message)?;
    }
    if message.quarantined {
        return Ok(Recorded::Quarantined(message.id));
    }
    for endpoint in route
        .endpoints
        .iter()
        .filter(|endpoint| endpoint.wants(&message))
    {
        promise(context, &message, endpoint, lease)?;
    }
    Ok(Recorded::New(message.id))
}

/// What a source knows of an event's name.
#[derive(Clone, Copy)]
enum Known {
    Nothing,
    SameBytes(MessageId),
    OtherBytes,
}

fn look_for(context: &Context<'_>, seen: &Seen) -> Result<Known> {
    let mut statement = context
        .db
        .prepare_cached(include_str!("sql/receipt_find.sql"))?;
    let mut rows = statement.query(params![Blob(seen.source_id.0), seen.event_id])?;
    let mut known = Known::Nothing;
    while let Some(row) = rows.next()? {
        if row.get::<_, Blob<32>>(0)?.0 == seen.digest {
            return Ok(Known::SameBytes(MessageId(row.get::<_, Blob<16>>(1)?.0)));
        }
        known = Known::OtherBytes;
    }
    Ok(known)
}

fn count_again(context: &Context<'_>, seen: &Seen) -> Result<()> {
    let key = params![Blob(seen.source_id.0), seen.event_id, Blob(seen.digest)];
    context
        .db
        .prepare_cached(include_str!("sql/receipt_again.sql"))?
        .execute(key)?;
    Ok(())
}

fn insert_receipt(context: &Context<'_>, seen: &Seen, message: &Message) -> Result<()> {
    context
        .db
        .prepare_cached(include_str!("sql/receipt_put.sql"))?
        .execute(params![
            Blob(seen.source_id.0),
            seen.event_id,
            Blob(seen.digest),
            Blob(message.id.0),
            message.created_at
        ])?;
    Ok(())
}

fn insert_message(context: &Context<'_>, message: &Message) -> Result<()> {
    let channels = (!message.channels.is_empty()).then(|| json(&message.channels));
    let headers = (!message.headers.is_empty()).then(|| messages::write_headers(&message.headers));
    let inserted = context
        .db
        .prepare_cached(include_str!("sql/message_put.sql"))?
        .execute(params![
            Blob(message.id.0),
            Blob(message.application_id.0),
            message.event_id,
            message.event_type,
            channels,
            message.content_type,
            &message.payload[..],
            message.source.map(|id| Blob(id.0)),
            headers,
            message.quarantined,
            message.created_at,
        ])?;
    if inserted == 0 {
        Err(Error::Conflict("a message with this eventId exists"))
    } else {
        Ok(())
    }
}

/// Makes the delivery of a new message to an endpoint; leases it to this node if there is room.
fn promise(
    context: &mut Context<'_>,
    message: &Arc<Message>,
    endpoint: &Arc<Endpoint>,
    lease: Time,
) -> Result<()> {
    let now = message.created_at;
    let made = Delivery::new(message.id, endpoint.id, now);
    let slot = match endpoint.disabled {
        Some(_) => None,
        None => context
            .handoff
            .reserve_new(endpoint.id, message.payload.len()),
    };
    let event = match (&slot, endpoint.disabled) {
        (_, Some(_)) => Event::EndpointDisabled,
        (Some(_), None) => Event::Claimed { until: lease },
        (None, None) => {
            insert_delivery(context, message, &made)?;
            return Ok(());
        }
    };
    let delivery = moved(made, event, now)?;
    insert_delivery(context, message, &delivery)?;
    if let Some(slot) = slot {
        let (message, endpoint) = (Arc::clone(message), Arc::clone(endpoint));
        context.work.push(Work {
            delivery,
            message,
            endpoint,
            slot,
        });
    }
    Ok(())
}

/// A move that needs no dice and no schedule.
fn moved(delivery: Delivery, event: Event, now: Time) -> Result<Delivery> {
    delivery
        .after(event, now, 0.0, &Schedule::own_app())
        .map_err(|error| Error::Unreadable(error.to_string()))
}

fn insert_delivery(context: &Context<'_>, message: &Message, delivery: &Delivery) -> Result<()> {
    context
        .db
        .prepare_cached(include_str!("sql/delivery_put.sql"))?
        .execute(params![
            Blob(delivery.message_id.0),
            Blob(delivery.endpoint_id.0),
            Blob(message.application_id.0),
            delivery.state.code(),
            delivery.state.due(),
            delivery.fence,
            delivery.failures,
            delivery.manual,
            cause(delivery.state),
        ])?;
    Ok(())
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
    /// so that every endpoint has its turn however long another's queue is.
    fn run(mut self) -> Result<Claimed> {
        self.context.handoff.begin_claim();
        let start = self.context.routes.turn;
        let mut at = start;
        let mut wrapped = false;
        for _ in 0..ENDPOINTS {
            let next = self
                .next_endpoint(at)?
                .filter(|(id, _)| !(wrapped && *id > start));
            let Some((endpoint, due)) = next else {
                if wrapped || start == EndpointId([0; 16]) {
                    break;
                }
                wrapped = true;
                at = EndpointId([0; 16]);
                continue;
            };
            at = endpoint;
            if due > self.now {
                self.next_due = Some(self.next_due.map_or(due, |known| known.min(due)));
            } else if self.context.handoff.is_full() {
                break;
            } else {
                self.take(endpoint)?;
                self.context.routes.turn = endpoint;
            }
        }
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
            let message = self.message(due.message_id, &mut loaded)?;
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
            read_delivery(row, 0)
        })?;
        rows.collect()
    }

    fn message(
        &self,
        id: MessageId,
        loaded: &mut HashMap<MessageId, Arc<Message>>,
    ) -> Result<Arc<Message>> {
        if let Some(message) = loaded.get(&id) {
            return Ok(Arc::clone(message));
        }
        let message = Arc::new(messages::by_id(self.context.db, id)?);
        loaded.insert(id, Arc::clone(&message));
        Ok(message)
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
        .execute(params![
            Blob(attempt.message_id.0),
            Blob(attempt.id.0),
            Blob(attempt.endpoint_id.0),
            attempt.url,
            attempt.at,
            attempt.duration_ms,
            attempt.status,
            &attempt.response[..],
            attempt.error,
            attempt.succeeded,
            attempt.manual,
            late,
        ])?;
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
