//! Idempotency keys: kept in the transaction of the change that they belong to.

use std::time::Duration;

use rusqlite::{OptionalExtension, params};

use super::rows::Blob;
use super::writer::Context;
use crate::store::{Error, Once, Result};

/// How long an answer is repeated. The reference server repeats it for 12 hours.
const KEPT: Duration = Duration::from_hours(24);

/// Remembers a key, or refuses when it was seen before. A change that fails afterwards is forgotten with it.
pub(super) fn once(context: &Context<'_>, once: Option<&Once>) -> Result<()> {
    let Some(once) = once else { return Ok(()) };
    let oldest = once.at.minus(KEPT);
    // Each new key clears two old ones away, so the table cannot grow beyond a day of use.
    context
        .db
        .prepare_cached(include_str!("sql/idempotency_expire.sql"))?
        .execute(params![oldest])?;
    let seen = context
        .db
        .prepare_cached(include_str!("sql/idempotency_find.sql"))?
        .query_row(params![Blob(once.key), oldest], |row| {
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
        None => {
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
    }
}
