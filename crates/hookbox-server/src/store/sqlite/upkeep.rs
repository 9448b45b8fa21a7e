//! Upkeep in `SQLite`: a few rows at a time, between the commits of others.

use rusqlite::params;

use super::rows::Blob;
use super::writer::Context;
use super::{SqliteStore, once};
use crate::model::{MessageId, Time};
use crate::store::{Removed, Result, Retention};

/// Rows of a kind that one round removes: its commit holds everyone up.
const STEP: u32 = 250;

impl SqliteStore {
    pub(super) async fn upkeep(&self, now: Time, keep: Retention) -> Result<Option<Removed>> {
        self.write(move |context| {
            let (messages, looked) = messages(context, keep.first_kept(now))?;
            let receipts = expire(
                context,
                include_str!("sql/receipt_expire.sql"),
                now.minus(keep.receipts),
            )?;
            let keys = expire(
                context,
                include_str!("sql/idempotency_sweep.sql"),
                now.minus(once::KEPT),
            )?;
            let full = u64::from(STEP);
            Ok(Some(Removed {
                messages,
                receipts,
                keys,
                more: looked == STEP || receipts == full || keys == full,
                ..Removed::default()
            }))
        })
        .await
    }
}

/// Removes old messages in the order they came, from where the last round ended. Returns how many, and how many
/// it looked at that are old.
fn messages(context: &mut Context<'_>, first_kept: MessageId) -> Result<(u64, u32)> {
    let old = {
        let mut statement = context
            .db
            .prepare_cached(include_str!("sql/message_old.sql"))?;
        let rows = statement.query_map(params![context.routes.swept, STEP], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                MessageId(row.get::<_, Blob<16>>(1)?.0),
                row.get::<_, bool>(2)?,
            ))
        })?;
        let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        rows.into_iter()
            .take_while(|(_, id, _)| *id < first_kept)
            .collect::<Vec<_>>()
    };
    let looked = u32::try_from(old.len()).unwrap_or(u32::MAX);
    let mut removed = 0;
    for (rowid, id, _) in old.iter().filter(|(_, _, open)| !open) {
        for sql in [
            include_str!("sql/delivery_forget.sql"),
            include_str!("sql/attempt_forget.sql"),
        ] {
            context.db.prepare_cached(sql)?.execute([Blob(id.0)])?;
        }
        context
            .db
            .prepare_cached(include_str!("sql/message_forget.sql"))?
            .execute([rowid])?;
        removed += 1;
    }
    // What could not go is looked at again when the next sweep begins from the start.
    context.routes.swept = match old.last() {
        Some((rowid, ..)) if looked == STEP => *rowid,
        _ => 0,
    };
    Ok((removed, looked))
}

fn expire(context: &Context<'_>, sql: &str, oldest: Time) -> Result<u64> {
    let count = context
        .db
        .prepare_cached(sql)?
        .execute(params![oldest, STEP])?;
    Ok(count as u64)
}
