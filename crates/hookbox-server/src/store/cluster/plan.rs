//! What a transaction will write: gathered first, then one statement for each table.

use std::collections::HashMap;
use std::sync::Arc;

use super::known::{KnownReceipt, event_id_key, receipt_key};
use super::once;
use super::routes::Route;
use super::sql::sql;
use super::transaction::Writes;
use crate::model::delivery::{Delivery, Event, State};
use crate::model::{Clock, Endpoint, Message, MessageId, Schedule, Time};
use crate::store::columns::{Value, message};
use crate::store::handoff::Want;
use crate::store::seal::Sealer;
use crate::store::{Draft, Error, Handoff, Once, Recorded, Result, Seen, Work};

/// What a transaction will write.
pub(super) struct Plan {
    handoff: Handoff,
    /// The end of the leases that it gives.
    lease: Time,
    keys: Vec<Once>,
    /// Some of the keys are there, and too old to be repeated.
    pub(super) has_old_keys: bool,
    pub(super) messages: Vec<Arc<Message>>,
    receipts: Vec<(Seen, i64, Arc<Message>)>,
    again: HashMap<([u8; 32], i64), i64>,
    deliveries: Vec<(Delivery, Arc<Message>)>,
    work: Vec<Work>,
    /// Something became due that this node did not take.
    pub(super) waits: bool,
}

impl Plan {
    pub(super) fn new(handoff: Handoff) -> Self {
        Self {
            lease: handoff.lease_end(Clock.now()),
            handoff,
            keys: Vec::new(),
            has_old_keys: false,
            messages: Vec::new(),
            receipts: Vec::new(),
            again: HashMap::new(),
            deliveries: Vec::new(),
            work: Vec::new(),
            waits: false,
        }
    }

    /// What was leased to this node, once it is durable.
    pub(super) fn into_work(self) -> Vec<Work> {
        self.work
    }

    /// Adds a draft that was checked.
    pub(super) fn add(
        &mut self,
        draft: &Draft,
        route: &Route,
        known: &[KnownReceipt],
    ) -> Result<Recorded> {
        if let Some(seen) = &draft.seen
            && let Some(first) = known.iter().find(|known| known.digest == seen.digest)
        {
            *self
                .again
                .entry((receipt_key(seen), first.variant))
                .or_default() += 1;
            return Ok(Recorded::Duplicate(first.message));
        }
        let message = Arc::new(Message {
            id: draft.id,
            application_id: route.application,
            event_id: draft.event_id.clone(),
            event_type: draft.event_type.clone(),
            channels: draft.channels.clone(),
            content_type: draft.content_type.clone(),
            payload: draft.payload.clone(),
            source: draft.seen.as_ref().map(|seen| seen.source_id),
            headers: draft.headers.clone(),
            quarantined: !known.is_empty(),
            created_at: draft.created_at,
        });
        self.keys.extend(draft.once.clone());
        self.messages.push(Arc::clone(&message));
        if let Some(seen) = &draft.seen {
            let variant = known
                .iter()
                .map(|known| known.variant + 1)
                .max()
                .unwrap_or(0);
            self.receipts
                .push((seen.clone(), variant, Arc::clone(&message)));
        }
        if message.quarantined {
            return Ok(Recorded::Quarantined(message.id));
        }
        for endpoint in &route.endpoints {
            if endpoint.wants(&message) {
                self.promise(&message, endpoint)?;
            }
        }
        Ok(Recorded::New(message.id))
    }

    /// Makes the delivery of a new message to an endpoint; leases it to this node if there is room.
    fn promise(&mut self, message: &Arc<Message>, endpoint: &Arc<Endpoint>) -> Result<()> {
        let now = message.created_at;
        let made = Delivery::new(message.id, endpoint.id, now);
        let slot = match endpoint.disabled {
            Some(_) => None,
            None => self.handoff.reserve_new(Want::of(&made, message, endpoint)),
        };
        let event = match (&slot, endpoint.disabled) {
            (_, Some(_)) => Some(Event::EndpointDisabled),
            (Some(_), None) => Some(Event::Claimed { until: self.lease }),
            (None, None) => None,
        };
        let delivery = match event {
            Some(event) => moved(made, event, now)?,
            None => made,
        };
        self.waits |= matches!(delivery.state, State::Scheduled { .. });
        self.deliveries.push((delivery, Arc::clone(message)));
        if let Some(slot) = slot {
            self.work.push(Work {
                delivery,
                message: Arc::clone(message),
                endpoint: Arc::clone(endpoint),
                slot,
            });
        }
        Ok(())
    }

    /// What there is to write. Keys that others may write too go first and in order, so that two transactions
    /// wait for each other in one direction only.
    pub(super) fn writes<'a>(&'a self, sealer: &Sealer) -> Writes<'a> {
        let names: HashMap<MessageId, &str> = self
            .receipts
            .iter()
            .map(|(seen, _, message)| (message.id, seen.event_id.as_str()))
            .collect();
        let messages = self
            .messages
            .iter()
            .map(|message| message::write(message, names.get(&message.id).copied()).into());
        let deliveries = self
            .deliveries
            .iter()
            .map(|(delivery, message)| delivery_row(delivery, message).into());
        let mut keys: Vec<&Once> = self.keys.iter().collect();
        keys.sort_unstable_by_key(|once| once.key);
        let old = keys.iter().filter(|_| self.has_old_keys);
        vec![
            (
                sql!("idempotency_delete"),
                old.map(|key| once::age(key).into()).collect(),
            ),
            (
                sql!("idempotency_put"),
                keys.iter()
                    .map(|key| once::row(key, sealer).into())
                    .collect(),
            ),
            (sql!("event_id_put"), self.event_ids()),
            (sql!("receipt_again"), self.receipts_again()),
            (sql!("receipt_put"), self.new_receipts()),
            (sql!("message_put"), messages.collect()),
            (sql!("delivery_put"), deliveries.collect()),
        ]
    }

    fn event_ids(&self) -> Vec<Vec<Value<'_>>> {
        let mut names: Vec<_> = self
            .messages
            .iter()
            .filter_map(|message| {
                let id = message.event_id.as_ref()?;
                Some((event_id_key(message.application_id, id), message))
            })
            .collect();
        names.sort_unstable_by_key(|(key, _)| *key);
        let rows = names.into_iter().map(|(key, message)| {
            vec![
                key.to_vec().into(),
                (&message.id.0).into(),
                message.created_at.into(),
            ]
        });
        rows.collect()
    }

    fn receipts_again(&self) -> Vec<Vec<Value<'_>>> {
        let mut again: Vec<_> = self.again.iter().collect();
        again.sort_unstable();
        let rows = again
            .into_iter()
            .map(|((key, variant), times)| vec![key.into(), (*variant).into(), (*times).into()]);
        rows.collect()
    }

    fn new_receipts(&self) -> Vec<Vec<Value<'_>>> {
        let mut new: Vec<_> = self
            .receipts
            .iter()
            .map(|(seen, variant, message)| (receipt_key(seen), seen, *variant, message))
            .collect();
        new.sort_unstable_by_key(|(key, ..)| *key);
        let rows = new.into_iter().map(|(key, seen, variant, message)| {
            vec![
                key.to_vec().into(),
                variant.into(),
                (&seen.digest).into(),
                (&seen.source_id.0).into(),
                seen.event_id.as_bytes().into(),
                (&message.id.0).into(),
                message.created_at.into(),
                Value::Int(1),
            ]
        });
        rows.collect()
    }
}

/// The columns of an open delivery.
pub(super) fn delivery_row<'a>(delivery: &'a Delivery, message: &'a Message) -> [Value<'a>; 10] {
    let (due, until) = match delivery.state {
        State::Scheduled { at } => (Some(at), None),
        // What is leased keeps the place in the line that it had.
        State::Leased { until } => (Some(message.created_at), Some(until)),
        State::Held | State::Delivered | State::Dead { .. } | State::Cancelled => (None, None),
    };
    [
        (&delivery.message_id.0).into(),
        (&delivery.endpoint_id.0).into(),
        (&message.application_id.0).into(),
        delivery.state.code().into(),
        due.into(),
        until.into(),
        delivery.fence.into(),
        delivery.failures.into(),
        delivery.manual.into(),
        Value::Int(i64::try_from(message.payload.len()).unwrap_or(i64::MAX)),
    ]
}

/// A move that needs no dice and no schedule.
pub(super) fn moved(delivery: Delivery, event: Event, now: Time) -> Result<Delivery> {
    delivery
        .after(event, now, 0.0, &Schedule::own_app())
        .map_err(|error| Error::Unreadable(error.to_string()))
}
