//! Idempotency keys: kept in the transaction of the change that they belong to.

use std::time::Duration;

use super::sql::sql;
use super::transaction::{Row, Transaction};
use super::trouble::Tried;
use crate::model::Time;
use crate::store::columns::{Columns as _, Value};
use crate::store::seal::Sealer;
use crate::store::{Error, Once};

/// How long an answer is repeated. The reference server repeats it for 12 hours.
pub(super) const KEPT: Duration = Duration::from_hours(24);

/// What is known of a key.
pub(super) struct Known {
    pub(super) key: [u8; 32],
    request: [u8; 32],
    status: u16,
    body: Vec<u8>,
    at: Time,
}

impl Known {
    pub(super) fn read(row: &Row) -> crate::store::Result<Self> {
        Ok(Self {
            key: row.blob(0)?,
            request: row.blob(1)?,
            status: row.number(2)?,
            body: row.bytes(3)?.unwrap_or_default(),
            at: row.time(4)?,
        })
    }

    /// What a caller of that key is told; nothing when the answer is no longer repeated.
    pub(super) fn refusal(&self, once: &Once, sealer: &Sealer) -> Option<Error> {
        if self.at < once.at.minus(KEPT) {
            return None;
        }
        if self.request != once.request {
            return Some(Error::KeyReused);
        }
        Some(match sealer.open(&once.key, &self.body) {
            Ok(body) => Error::Repeated {
                status: self.status,
                body,
            },
            Err(error) => error,
        })
    }
}

/// The values of a key to remember.
pub(super) fn row<'a>(once: &'a Once, sealer: &Sealer) -> [Value<'a>; 5] {
    [
        (&once.key).into(),
        (&once.request).into(),
        once.status.into(),
        sealer.seal(&once.key, &once.body).into(),
        once.at.into(),
    ]
}

/// Forgets keys that are too old to be repeated. One that another transaction has just written is not: it stays,
/// and this transaction meets it.
pub(super) async fn forget(transaction: &mut Transaction, keys: &[&Once]) -> Tried<()> {
    let rows: Vec<_> = keys.iter().map(|once| age(once)).collect();
    transaction
        .execute_rows(sql!("idempotency_delete"), &rows)
        .await?;
    Ok(())
}

/// A key, and before when one is too old.
pub(super) fn age(once: &Once) -> [Value<'_>; 2] {
    [(&once.key).into(), once.at.minus(KEPT).into()]
}

/// Checks and remembers a key, in the transaction of its change.
pub(super) async fn once(
    transaction: &mut Transaction,
    key: Option<&Once>,
    sealer: &Sealer,
) -> Tried<()> {
    let Some(once) = key else { return Ok(()) };
    let keys = [[Value::from(&once.key)]];
    if let Some(row) = transaction
        .query_rows(sql!("idempotency_find"), &keys)
        .await?
        .first()
    {
        if let Some(refusal) = Known::read(row)?.refusal(once, sealer) {
            return Err(refusal.into());
        }
        forget(transaction, &[once]).await?;
    }
    transaction
        .execute_rows(sql!("idempotency_put"), &[row(once, sealer)])
        .await?;
    Ok(())
}
