//! Deliveries: looking at them, and moving them by hand.

use super::Shared;
use super::once::once;
use super::plan::{delivery_row, moved};
use super::sql::sql;
use super::transaction::{Row, Transaction, reading, transaction};
use super::trouble::Tried;
use crate::model::delivery::{Delivery, Event, State};
use crate::model::{ApplicationId, Endpoint, EndpointId, MessageId, Time};
use crate::store::columns::{
    Bounds, Columns as _, Value, attempt, delivery, endpoint, listing, message,
};
use crate::store::{
    DeadFilter, DeadLetter, DeadMove, Error, Listing, Once, Page, QueueFigures, Result, Waiting,
};

/// Dead letters that are moved by one statement.
const STEP: i64 = 500;

fn read_dead(row: &Row) -> Result<DeadLetter> {
    Ok(DeadLetter {
        delivery: delivery::read(row, 0)?,
        event_type: row.string(8)?,
        url: row.string(9)?,
        last_attempt: match row.bytes(11)? {
            Some(_) => Some(attempt::read(row, 10)?),
            None => None,
        },
    })
}

/// The figures of a row of `delivery_figures`.
pub(super) fn figures(row: &Row) -> Result<QueueFigures> {
    let oldest = |at| Ok::<_, Error>(row.int(at)?.map(Time));
    Ok(QueueFigures {
        due: Waiting {
            count: row.number(0)?,
            oldest: oldest(1)?,
        },
        scheduled: row.number(2)?,
        leased: Waiting {
            count: row.number(3)?,
            oldest: oldest(4)?,
        },
        held: Waiting {
            count: row.number(5)?,
            oldest: row.optional_blob(6)?.map(|id| MessageId(id).made_at()),
        },
        dead: row.number(7)?,
    })
}

async fn replay(
    open: &mut Transaction,
    id: MessageId,
    endpoint: &Endpoint,
    now: Time,
) -> Tried<()> {
    let key = [Value::from(&id.0), (&endpoint.id.0).into()];
    let waiting = open.find(sql!("delivery_by_id"), &key).await?;
    let settled = open.find(sql!("settled_by_id"), &key).await?;
    let before = match waiting.as_ref().or(settled.as_ref()) {
        Some(row) => delivery::read(row, 0)?,
        None => Delivery::new(id, endpoint.id, now),
    };
    let mut after = moved(before, Event::Replayed, now)?;
    if endpoint.disabled.is_some() {
        after = moved(after, Event::EndpointDisabled, now)?;
    }
    if waiting.is_some() {
        if !matches!(after.state, State::Leased { .. }) {
            let next: [Value<'_>; 5] = [
                (&id.0).into(),
                (&endpoint.id.0).into(),
                after.state.due().into(),
                after.failures.into(),
                after.manual.into(),
            ];
            open.execute_rows(sql!("delivery_schedule"), &[next])
                .await?;
        }
        return Ok(());
    }
    open.execute_rows(sql!("settled_delete"), &[key]).await?;
    let key = [Value::from(&endpoint.application_id.0), (&id.0).into()];
    let rows = open.query_rows(sql!("message_by_id"), &[key]).await?;
    let message = message::read(rows.first().ok_or(Error::NotFound("message"))?)?;
    open.execute_rows(sql!("delivery_put"), &[delivery_row(&after, &message)])
        .await?;
    Ok(())
}

/// Settles deliveries without another try: some at a time, all in one transaction.
pub(super) async fn settle_untried(
    open: &mut Transaction,
    deliveries: &[(Delivery, ApplicationId)],
) -> Tried<()> {
    let rows: Vec<[Value<'_>; 7]> = deliveries
        .iter()
        .map(|(done, application)| settled_row(done, application))
        .collect();
    let keys: Vec<&[Value<'_>]> = rows.iter().map(|row| &row[..2]).collect();
    open.execute_rows(sql!("delivery_delete"), &keys).await?;
    open.execute_rows(sql!("settled_put"), &rows).await?;
    Ok(())
}

/// The columns of a delivery that is settled.
pub(super) fn settled_row<'a>(
    done: &'a Delivery,
    application: &'a ApplicationId,
) -> [Value<'a>; 7] {
    [
        (&done.message_id.0).into(),
        (&done.endpoint_id.0).into(),
        (&application.0).into(),
        done.state.code().into(),
        done.fence.into(),
        done.failures.into(),
        delivery::cause(done.state).into(),
    ]
}

/// Cancels what is still owed to an endpoint.
pub(super) async fn cancel(open: &mut Transaction, endpoint: EndpointId) -> Tried<()> {
    loop {
        let values = [Value::from(&endpoint.0), Value::Int(STEP)];
        let rows = open.query(sql!("delivery_of_endpoint"), &values).await?;
        let gone = rows.iter().map(|row| {
            let delivery = Delivery {
                message_id: MessageId(row.blob(0)?),
                endpoint_id: endpoint,
                state: State::Cancelled,
                fence: row.number(3)?,
                failures: row.number(4)?,
                manual: false,
            };
            Ok((delivery, ApplicationId(row.blob(2)?)))
        });
        let gone = gone.collect::<Result<Vec<_>>>()?;
        settle_untried(open, &gone).await?;
        if i64::try_from(gone.len()).is_ok_and(|count| count < STEP) {
            return Ok(());
        }
    }
}

impl Shared {
    pub(super) async fn deliveries(
        &self,
        message: MessageId,
        page: Page<EndpointId>,
    ) -> Result<Listing<(Delivery, Endpoint)>> {
        let bounds = Bounds::of(&page);
        let values = [
            Value::from(&message.0),
            (&bounds.above.0).into(),
            (&bounds.below.0).into(),
            bounds.limit.into(),
        ];
        let sql = sql!("delivery_list").ordered(bounds.down);
        let rows = reading!(self.pages, |read| read.query(sql, &values).await)?;
        let data = rows.iter().map(|row| {
            Ok((
                delivery::read(row, endpoint::WIDTH)?,
                endpoint::read(row, &self.sealer)?,
            ))
        });
        Ok(listing(&page, data.collect::<Result<_>>()?))
    }

    pub(super) async fn replay(
        &self,
        message: MessageId,
        id: EndpointId,
        now: Time,
        key: Option<Once>,
    ) -> Result<()> {
        let done: Result<()> = transaction!(self.pages, |open| {
            once(&mut open, key.as_ref(), &self.sealer).await?;
            let row = open
                .find(sql!("endpoint_by_id"), &[(&id.0).into()])
                .await?
                .ok_or(Error::NotFound("endpoint"))?;
            let endpoint = endpoint::read(&row, &self.sealer)?;
            replay(&mut open, message, &endpoint, now).await
        });
        done?;
        self.due(now);
        Ok(())
    }

    pub(super) async fn queue(&self, now: Time) -> Result<QueueFigures> {
        let found = reading!(self.pages, |read| {
            read.find(sql!("delivery_figures"), &[now.into()]).await
        })?;
        found.as_ref().map_or(Ok(QueueFigures::default()), figures)
    }

    pub(super) async fn dead(
        &self,
        application: ApplicationId,
        filter: DeadFilter,
        page: Page<(MessageId, EndpointId)>,
    ) -> Result<Listing<DeadLetter>> {
        let bounds = Bounds::of(&page);
        let values = [
            Value::from(&application.0),
            (&bounds.above.0.0).into(),
            (&bounds.above.1.0).into(),
            (&bounds.below.0.0).into(),
            (&bounds.below.1.0).into(),
            filter.message.as_ref().map(|id| &id.0).into(),
            filter.endpoint.as_ref().map(|id| &id.0).into(),
            bounds.limit.into(),
        ];
        let sql = sql!("settled_dead").ordered(bounds.down);
        let rows = reading!(self.pages, |read| read.query(sql, &values).await)?;
        let data = rows.iter().map(read_dead).collect::<Result<_>>()?;
        Ok(listing(&page, data))
    }

    pub(super) async fn move_dead(
        &self,
        application: ApplicationId,
        filter: DeadFilter,
        to: DeadMove,
        now: Time,
    ) -> Result<u64> {
        let which = || -> [Value<'_>; 3] {
            [
                (&application.0).into(),
                filter.message.as_ref().map(|id| &id.0).into(),
                filter.endpoint.as_ref().map(|id| &id.0).into(),
            ]
        };
        match to {
            DeadMove::Discard => transaction!(self.pages, |open| {
                open.execute(sql!("settled_dead_discard"), &which()).await
            }),
            DeadMove::Replay => {
                let count: Result<u64> = transaction!(self.pages, |open| {
                    replay_dead(&mut open, application, which(), now).await
                });
                self.due(now);
                count
            }
        }
    }
}

/// Makes dead letters due again, some at a time, all in one transaction.
async fn replay_dead(
    open: &mut Transaction,
    application: ApplicationId,
    which: [Value<'_>; 3],
    now: Time,
) -> Tried<u64> {
    let (mut count, mut after) = (0, ([0; 16], [0; 16]));
    loop {
        let mut values = which.to_vec();
        values.extend([Value::from(&after.0), (&after.1).into(), Value::Int(STEP)]);
        let dead = open.query(sql!("settled_dead_lock"), &values).await?;
        let mut rows: Vec<[Value<'_>; 10]> = Vec::new();
        for row in &dead {
            let (message, endpoint): ([u8; 16], [u8; 16]) = (row.blob(0)?, row.blob(1)?);
            let held = row.text(3)?.is_some();
            rows.push([
                message.to_vec().into(),
                endpoint.to_vec().into(),
                (&application.0).into(),
                if held { "held" } else { "scheduled" }.into(),
                (!held).then_some(now).into(),
                Value::Null,
                row.number::<i64>(2)?.into(),
                Value::Int(0),
                Value::Bool(true),
                row.number::<i64>(4)?.into(),
            ]);
            after = (message, endpoint);
        }
        let keys: Vec<&[Value<'_>]> = rows.iter().map(|row| &row[..2]).collect();
        open.execute_rows(sql!("settled_delete"), &keys).await?;
        open.execute_rows(sql!("delivery_put"), &rows).await?;
        count += rows.len() as u64;
        if i64::try_from(rows.len()).is_ok_and(|rows| rows < STEP) {
            return Ok(count);
        }
    }
}
