//! Upkeep: what is kept long enough is removed, by one node at a time.
//!
//! The node that does it holds a lease in the database. Two at once would remove the same twice, which is harmless.

use std::time::Duration;

use super::schema::{self, DAY};
use super::sql::{Dialect, Statement, sql};
use super::transaction::{Transaction, transaction};
use super::trouble::Tried;
use super::{Shared, once};
use crate::model::Time;
use crate::store::columns::{Columns as _, Value};
use crate::store::{Removed, Result, Retention};

/// How long a round may take before another node may begin one.
const ROUND: Duration = Duration::from_secs(120);
/// Rows that one statement removes.
const STEP: i64 = 2000;
const JOB: &str = "retention";

impl Shared {
    /// One round; nothing when another node does it.
    pub(super) async fn upkeep(&self, now: Time, keep: Retention) -> Result<Option<Removed>> {
        let until = now.plus(ROUND);
        let take = [
            Value::from(JOB),
            (&self.node).into(),
            until.into(),
            now.into(),
        ];
        let taken: Result<u64> = transaction!(self.pages, |open| {
            open.execute(sql!("upkeep_take"), &take).await
        });
        if taken? == 0 {
            return Ok(None);
        }
        let removed = self.round(now, keep).await;
        let release = [Value::from(JOB), (&self.node).into(), now.into()];
        let released: Result<u64> = transaction!(self.pages, |open| {
            open.execute(sql!("upkeep_release"), &release).await
        });
        released?;
        removed.map(Some)
    }

    async fn round(&self, now: Time, keep: Retention) -> Result<Removed> {
        let mut removed = Removed::default();
        if self.pages.dialect() == Dialect::Postgres {
            schema::make_days(&self.pages, now)
                .await
                .map_err(super::trouble::Trouble::into_error)?;
            self.drop_days(now.minus(keep.messages), &mut removed)
                .await?;
        }
        removed.messages = self.remove_messages(now, keep).await?;
        let oldest = now.minus(keep.receipts);
        removed.receipts = self.expire(sql!("receipt_expire"), oldest).await?;
        let oldest = now.minus(keep.messages);
        let names = self.expire(sql!("event_id_expire"), oldest).await?;
        let oldest = now.minus(once::KEPT);
        removed.keys = self.expire(sql!("idempotency_expire"), oldest).await?;
        let full = STEP.unsigned_abs();
        removed.more = [removed.messages, removed.receipts, names, removed.keys].contains(&full);
        Ok(removed)
    }

    async fn expire(&self, sql: Statement, oldest: Time) -> Result<u64> {
        let values = [oldest.into(), Value::Int(STEP)];
        transaction!(self.pages, |open| open.execute(sql, &values).await)
    }

    /// Removes old messages row by row, with all that belongs to them.
    async fn remove_messages(&self, now: Time, keep: Retention) -> Result<u64> {
        let first_kept = keep.first_kept(now);
        transaction!(self.pages, |open| {
            let values = [Value::from(&first_kept.0), Value::Int(STEP)];
            let rows = open.query(sql!("message_old"), &values).await?;
            let ids = rows
                .iter()
                .map(|row| Ok([Value::OwnBytes(row.bytes(0)?.unwrap_or_default())]))
                .collect::<Result<Vec<[Value<'_>; 1]>>>()?;
            open.execute_rows(sql!("delivery_forget"), &ids).await?;
            open.execute_rows(sql!("attempt_forget"), &ids).await?;
            open.execute_rows(sql!("settled_forget"), &ids).await?;
            open.execute_rows(sql!("message_forget"), &ids).await?;
            Ok(ids.len() as u64)
        })
    }

    /// Drops the tables of the days that ended before `oldest` and have nothing left to deliver.
    async fn drop_days(&self, oldest: Time, removed: &mut Removed) -> Result<()> {
        let mut read = self.pages.read().await?;
        let days = schema::days(&mut read)
            .await
            .map_err(super::trouble::Trouble::into_error)?;
        drop(read);
        for day in days.into_iter().filter(|day| (day + 1) * DAY <= oldest.0) {
            let dropped: Result<bool> =
                transaction!(self.pages, |open| drop_day(&mut open, day).await);
            if dropped? {
                removed.days += 1;
            } else {
                removed.days_kept += 1;
            }
        }
        Ok(())
    }
}

async fn drop_day(open: &mut Transaction, day: i64) -> Tried<bool> {
    let (first, next) = (schema::first_id(day), schema::first_id(day + 1));
    let range = [Value::from(first.as_bytes()), Value::from(next.as_bytes())];
    let waiting = open.find(sql!("day_open"), &range).await?;
    if waiting.map_or(Ok(0), |row| row.number::<i64>(0))? > 0 {
        return Ok(false);
    }
    let held = open.execute(sql!("day_forget"), &range).await?;
    if held > 0 {
        tracing::warn!(held, day = %schema::day_name(day), "deliveries held longer than messages are kept were removed");
    }
    open.script(&schema::drop_text(day)).await?;
    Ok(true)
}
