//! Idempotency keys: kept in the transaction of the change that they belong to.

use std::time::Duration;

use rusqlite::{OptionalExtension, params};

use super::rows::Blob;
use super::writer::Context;
use crate::store::{Error, Once, Result};

/// How long an answer is repeated. The reference server repeats it for 12 hours.
pub(super) const KEPT: Duration = Duration::from_hours(24);

/// Refuses a key that was seen before. Writes nothing.
pub(super) fn check(context: &Context<'_>, once: Option<&Once>) -> Result<()> {
    let Some(once) = once else { return Ok(()) };
    let seen = context
        .db
        .prepare_cached(include_str!("sql/idempotency_find.sql"))?
        .query_row(params![Blob(once.key), once.at.minus(KEPT)], |row| {
            Ok((
                row.get::<_, Blob<32>>(0)?,
                row.get::<_, u16>(1)?,
                row.get::<_, Vec<u8>>(2)?,
            ))
        })
        .optional()?;
    match seen {
        Some((request, ..)) if request.0 != once.request => Err(Error::KeyReused),
        Some((_, status, body)) => Err(Error::Repeated {
            status,
            body: context.sealer.open(&once.key, &body)?,
        }),
        None => Ok(()),
    }
}

/// Remembers a key that was checked.
pub(super) fn remember(context: &Context<'_>, once: Option<&Once>) -> Result<()> {
    let Some(once) = once else { return Ok(()) };
    // Each new key clears two old ones away, so the table cannot grow beyond a day of use.
    let oldest = once.at.minus(KEPT);
    context
        .db
        .prepare_cached(include_str!("sql/idempotency_expire.sql"))?
        .execute(params![oldest])?;
    let body = context.sealer.seal(&once.key, &once.body);
    context
        .db
        .prepare_cached(include_str!("sql/idempotency_put.sql"))?
        .execute(params![
            Blob(once.key),
            Blob(once.request),
            once.status,
            body,
            once.at
        ])?;
    Ok(())
}

/// Checks and remembers a key, where a savepoint undoes it with the change that fails afterwards.
pub(super) fn once(context: &Context<'_>, key: Option<&Once>) -> Result<()> {
    check(context, key)?;
    remember(context, key)
}
