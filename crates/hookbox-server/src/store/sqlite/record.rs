//! Recording in `SQLite`: message, receipt and deliveries in one transaction.

use std::sync::Arc;

use rusqlite::{params, params_from_iter};

use super::claim::moved;
use super::rows::Blob;
use super::writer::Context;
use super::{SqliteStore, once};
use crate::model::delivery::{Delivery, Event};
use crate::model::{Endpoint, Message, MessageId, Time};
use crate::store::columns::{delivery::cause, message};
use crate::store::handoff::Want;
use crate::store::{Draft, Error, Recorded, Result, Seen, Work};

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
    insert_message(context, &message, draft.seen.as_ref())?;
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
    let mut rows = statement.query(params![Blob(seen.source_id.0), seen.event_id.as_bytes()])?;
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
    let key = params![
        Blob(seen.source_id.0),
        seen.event_id.as_bytes(),
        Blob(seen.digest)
    ];
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
            seen.event_id.as_bytes(),
            Blob(seen.digest),
            Blob(message.id.0),
            message.created_at
        ])?;
    Ok(())
}

fn insert_message(context: &Context<'_>, message: &Message, seen: Option<&Seen>) -> Result<()> {
    let name = seen.map(|seen| seen.event_id.as_str());
    let inserted = context
        .db
        .prepare_cached(include_str!("sql/message_put.sql"))?
        .execute(params_from_iter(message::write(message, name)))?;
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
            .reserve_new(Want::of(&made, message, endpoint)),
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
