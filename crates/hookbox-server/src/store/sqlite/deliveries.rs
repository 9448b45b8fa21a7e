//! Deliveries in `SQLite`: looking at them, and moving them by hand.

use rusqlite::{OptionalExtension, Row, params};

use super::once::once;
use super::rows::Blob;
use super::writer::Context;
use super::{SqliteStore, endpoints};
use crate::model::delivery::{Delivery, Event};
use crate::model::{ApplicationId, Endpoint, EndpointId, MessageId, Schedule, Time};
use crate::store::columns::{Bounds, attempt, delivery, endpoint, listing};
use crate::store::{DeadFilter, DeadLetter, DeadMove, Error, Listing, Once, Page, Result};

fn read_dead(row: &Row<'_>) -> Result<DeadLetter> {
    Ok(DeadLetter {
        delivery: delivery::read(row, 0)?,
        event_type: row.get(8)?,
        url: row.get(9)?,
        last_attempt: match row.get::<_, Option<Blob<16>>>(11)? {
            Some(_) => Some(attempt::read(row, 10)?),
            None => None,
        },
    })
}

fn replay(
    context: &mut Context<'_>,
    message: MessageId,
    endpoint: &Endpoint,
    now: Time,
) -> Result<()> {
    let key = params![Blob(message.0), Blob(endpoint.id.0)];
    let known = context
        .db
        .prepare_cached(include_str!("sql/delivery_by_id.sql"))?
        .query_row(key, |row| Ok(delivery::read(row, 0)))
        .optional()?
        .transpose()?;
    let before = known.unwrap_or_else(|| Delivery::new(message, endpoint.id, now));
    let step = |delivery: Delivery, event| {
        delivery
            .after(event, now, 0.0, &Schedule::own_app())
            .map_err(|error| Error::Unreadable(error.to_string()))
    };
    let mut after = step(before, Event::Replayed)?;
    if endpoint.disabled.is_some() {
        after = step(after, Event::EndpointDisabled)?;
    }
    context
        .db
        .prepare_cached(include_str!("sql/delivery_move.sql"))?
        .execute(params![
            Blob(message.0),
            Blob(endpoint.id.0),
            Blob(endpoint.application_id.0),
            after.state.code(),
            after.state.due(),
            after.fence,
            after.failures,
            after.manual,
        ])?;
    context.due_at(now);
    Ok(())
}

impl SqliteStore {
    pub(super) async fn deliveries(
        &self,
        message: MessageId,
        page: Page<EndpointId>,
    ) -> Result<Listing<(Delivery, Endpoint)>> {
        let sealer = self.sealer.clone();
        self.read(move |db| {
            let bounds = Bounds::of(&page);
            let mut statement =
                db.prepare_cached(&bounds.ordered(include_str!("sql/delivery_list.sql")))?;
            let rows = statement.query_and_then(
                params![
                    Blob(message.0),
                    Blob(bounds.above.0),
                    Blob(bounds.below.0),
                    bounds.limit
                ],
                |row| {
                    Ok((
                        delivery::read(row, endpoint::WIDTH)?,
                        endpoint::read(row, &sealer)?,
                    ))
                },
            )?;
            Ok(listing(&page, rows.collect::<Result<_>>()?))
        })
        .await
    }

    pub(super) async fn replay(
        &self,
        message: MessageId,
        endpoint: EndpointId,
        now: Time,
        key: Option<Once>,
    ) -> Result<()> {
        self.write(move |context| {
            once(context, key.as_ref())?;
            let endpoint = endpoints::by_id(context.db, context.sealer, endpoint)?;
            replay(context, message, &endpoint, now)
        })
        .await
    }

    pub(super) async fn dead(
        &self,
        application: ApplicationId,
        filter: DeadFilter,
        page: Page<(MessageId, EndpointId)>,
    ) -> Result<Listing<DeadLetter>> {
        self.read(move |db| {
            let bounds = Bounds::of(&page);
            let mut statement =
                db.prepare_cached(&bounds.ordered(include_str!("sql/delivery_dead.sql")))?;
            let rows = statement.query_and_then(
                params![
                    Blob(application.0),
                    Blob(bounds.above.0.0),
                    Blob(bounds.above.1.0),
                    Blob(bounds.below.0.0),
                    Blob(bounds.below.1.0),
                    filter.message.map(|id| Blob(id.0)),
                    filter.endpoint.map(|id| Blob(id.0)),
                    bounds.limit,
                ],
                read_dead,
            )?;
            Ok(listing(&page, rows.collect::<Result<_>>()?))
        })
        .await
    }

    pub(super) async fn move_dead(
        &self,
        application: ApplicationId,
        filter: DeadFilter,
        to: DeadMove,
        now: Time,
    ) -> Result<u64> {
        self.write(move |context| {
            let sql = match to {
                DeadMove::Replay => include_str!("sql/delivery_dead_replay.sql"),
                DeadMove::Discard => include_str!("sql/delivery_dead_discard.sql"),
            };
            let count = context.db.prepare_cached(sql)?.execute(params![
                Blob(application.0),
                filter.message.map(|id| Blob(id.0)),
                filter.endpoint.map(|id| Blob(id.0)),
                now,
            ])?;
            context.due_at(now);
            Ok(count as u64)
        })
        .await
    }
}
