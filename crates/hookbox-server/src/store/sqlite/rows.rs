//! How values stand in columns.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::model::delivery::{Cause, Delivery, State};
use crate::model::{ApplicationId, AttemptId, EndpointId, MessageId, Time, TokenId};
use crate::store::{Error, Listing, MessageFilter, Page, Result};

/// Bytes of a fixed length: an id or a digest.
pub(super) struct Blob<const N: usize>(pub(super) [u8; N]);

impl<const N: usize> ToSql for Blob<N> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(&self.0)))
    }
}

impl<const N: usize> FromSql for Blob<N> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value
            .as_blob()?
            .try_into()
            .map(Self)
            .map_err(|_| FromSqlError::InvalidType)
    }
}

impl ToSql for Time {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.into())
    }
}

impl FromSql for Time {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(Self)
    }
}

pub(super) fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value)
        .expect("maps with text keys and lists of text always have a JSON form")
}

pub(super) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| Error::Unreadable(error.to_string()))
}

/// Reads a delivery from eight columns: both ids, state, due, fence, failures, manual, cause.
pub(super) fn delivery(row: &rusqlite::Row<'_>, first: usize) -> Result<Delivery> {
    let state: String = row.get(first + 2)?;
    let due: Option<Time> = row.get(first + 3)?;
    let cause: Option<String> = row.get(first + 7)?;
    let state = match (
        state.as_str(),
        due,
        cause.as_deref().and_then(Cause::from_code),
    ) {
        ("scheduled", Some(at), None) => State::Scheduled { at },
        ("leased", Some(until), None) => State::Leased { until },
        ("held", None, None) => State::Held,
        ("delivered", None, None) => State::Delivered,
        ("dead", None, Some(cause)) => State::Dead { cause },
        ("cancelled", None, None) => State::Cancelled,
        _ => {
            return Err(Error::Unreadable(format!(
                "a delivery is in the unknown state '{state}'"
            )));
        }
    };
    Ok(Delivery {
        message_id: MessageId(row.get::<_, Blob<16>>(first)?.0),
        endpoint_id: EndpointId(row.get::<_, Blob<16>>(first + 1)?.0),
        state,
        fence: row.get(first + 4)?,
        failures: row.get(first + 5)?,
        manual: row.get(first + 6)?,
    })
}

/// The columns `cause` of a state.
pub(super) fn cause(state: State) -> Option<&'static str> {
    match state {
        State::Dead { cause } => Some(cause.code()),
        State::Scheduled { .. }
        | State::Leased { .. }
        | State::Held
        | State::Delivered
        | State::Cancelled => None,
    }
}

/// A key with a first and a last value that no row has.
pub(super) trait Key: Clone {
    fn first() -> Self;
    fn last() -> Self;
}

macro_rules! key {
    ($($id:ident),*) => { $(
        impl Key for $id {
            fn first() -> Self {
                Self([0; 16])
            }
            fn last() -> Self {
                Self([0xff; 16])
            }
        }
    )* };
}

key!(ApplicationId, EndpointId, MessageId, AttemptId, TokenId);

impl Key for (MessageId, EndpointId) {
    fn first() -> Self {
        (MessageId::first(), EndpointId::first())
    }
    fn last() -> Self {
        (MessageId::last(), EndpointId::last())
    }
}

impl Key for String {
    fn first() -> Self {
        Self::new()
    }
    fn last() -> Self {
        char::MAX.to_string()
    }
}

/// The keys between which a page lies, both excluded, and the direction to read in.
pub(super) struct Bounds<C> {
    pub(super) above: C,
    pub(super) below: C,
    down: bool,
    /// One more than asked for, to know whether there is more.
    pub(super) limit: u32,
}

impl<C: Key> Bounds<C> {
    pub(super) fn of(page: &Page<C>) -> Self {
        let down = page.descending != page.backwards;
        let edge = page.after.clone();
        let (above, below) = if down { (None, edge) } else { (edge, None) };
        Self {
            above: above.unwrap_or_else(C::first),
            below: below.unwrap_or_else(C::last),
            down,
            limit: page.limit + 1,
        }
    }

    /// A statement that is written ascending, in the direction of the page.
    pub(super) fn ordered(&self, sql: &str) -> String {
        if self.down {
            sql.replace(" ASC", " DESC")
        } else {
            sql.to_owned()
        }
    }
}

impl Bounds<MessageId> {
    /// Within the times of a filter: ids carry the time they were made.
    pub(super) fn within(mut self, filter: &MessageFilter) -> Self {
        if let Some(after) = filter.after {
            self.above = self
                .above
                .max(MessageId::first_at(Time(after.0.saturating_add(1))));
        }
        if let Some(before) = filter.before {
            self.below = self.below.min(MessageId::first_at(before));
        }
        self
    }
}

impl Bounds<AttemptId> {
    /// Within the times of a filter: ids carry the time they were made.
    pub(super) fn within(mut self, filter: &MessageFilter) -> Self {
        if let Some(after) = filter.after {
            self.above = self
                .above
                .max(AttemptId::first_at(Time(after.0.saturating_add(1))));
        }
        if let Some(before) = filter.before {
            self.below = self.below.min(AttemptId::first_at(before));
        }
        self
    }
}

/// Makes the page of what was read: at most the limit, in the list's order.
pub(super) fn listing<C, T>(page: &Page<C>, mut data: Vec<T>) -> Listing<T> {
    let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
    let more = data.len() > limit;
    data.truncate(limit);
    if page.backwards {
        data.reverse();
    }
    Listing { data, more }
}
