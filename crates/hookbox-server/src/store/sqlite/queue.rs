//! How the database fares: the figures of the queue, and whether it can be written.

use rusqlite::Row;

use super::SqliteStore;
use super::rows::Blob;
use super::schema::APPLICATION_ID;
use crate::model::{MessageId, Time};
use crate::store::{QueueFigures, Result, Waiting};

impl SqliteStore {
    pub(super) async fn queue(&self, now: Time) -> Result<QueueFigures> {
        self.read(move |db| {
            let mut statement = db.prepare_cached(include_str!("sql/delivery_figures.sql"))?;
            let figures = statement.query_row([now], figures);
            Ok(figures?)
        })
        .await
    }

    /// Writes what stands in the file's header already: an empty transaction would go through on a full disk too,
    /// and `SQLite` leaves a row alone that does not change.
    pub(super) async fn health(&self) -> Result<()> {
        self.write_checked(|context| {
            let (name, value) = ("application_id", APPLICATION_ID);
            Ok(context.db.pragma_update(None, name, value)?)
        })
        .await
    }
}

/// The figures of a row of `delivery_figures`.
pub(super) fn figures(row: &Row<'_>) -> rusqlite::Result<QueueFigures> {
    let oldest_held: Option<Blob<16>> = row.get(6)?;
    Ok(QueueFigures {
        due: Waiting {
            count: count(row, 0)?,
            oldest: row.get(1)?,
        },
        scheduled: count(row, 2)?,
        leased: Waiting {
            count: count(row, 3)?,
            oldest: row.get(4)?,
        },
        held: Waiting {
            count: count(row, 5)?,
            oldest: oldest_held.map(|id| MessageId(id.0).made_at()),
        },
        dead: count(row, 7)?,
    })
}

fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let count: i64 = row.get(column)?;
    Ok(u64::try_from(count).unwrap_or_default())
}
