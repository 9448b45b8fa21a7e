//! Attempts in columns.

use super::{Columns, Value};
use crate::model::{Attempt, AttemptId, EndpointId, MessageId};
use crate::store::Result;

/// Reads an attempt from twelve columns.
pub(in crate::store) fn read(row: &impl Columns, first: usize) -> Result<Attempt> {
    Ok(Attempt {
        message_id: MessageId(row.blob(first)?),
        id: AttemptId(row.blob(first + 1)?),
        endpoint_id: EndpointId(row.blob(first + 2)?),
        url: row.string(first + 3)?,
        at: row.time(first + 4)?,
        duration_ms: row.number(first + 5)?,
        status: row.optional_number(first + 6)?,
        response: row.bytes(first + 7)?.unwrap_or_default().into(),
        error: row.text(first + 8)?,
        succeeded: row.flag(first + 9)?,
        manual: row.flag(first + 10)?,
        late: row.flag(first + 11)?,
    })
}

pub(in crate::store) fn write(attempt: &Attempt, late: bool) -> [Value<'_>; 12] {
    [
        (&attempt.message_id.0).into(),
        (&attempt.id.0).into(),
        (&attempt.endpoint_id.0).into(),
        (&attempt.url).into(),
        attempt.at.into(),
        attempt.duration_ms.into(),
        attempt.status.into(),
        attempt.response[..].into(),
        attempt.error.as_ref().into(),
        attempt.succeeded.into(),
        attempt.manual.into(),
        late.into(),
    ]
}
