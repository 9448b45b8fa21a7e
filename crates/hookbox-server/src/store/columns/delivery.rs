//! Deliveries in columns.

use super::Columns;
use crate::model::delivery::{Cause, Delivery, State};
use crate::model::{EndpointId, MessageId, Time};
use crate::store::{Error, Result};

/// Reads a delivery from eight columns: both ids, state, due, fence, failures, manual, cause.
pub(in crate::store) fn read(row: &impl Columns, first: usize) -> Result<Delivery> {
    let state = row.string(first + 2)?;
    let due = row.int(first + 3)?.map(Time);
    let cause = row.text(first + 7)?;
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
        message_id: MessageId(row.blob(first)?),
        endpoint_id: EndpointId(row.blob(first + 1)?),
        state,
        fence: row.number(first + 4)?,
        failures: row.number(first + 5)?,
        manual: row.flag(first + 6)?,
    })
}

/// The column `cause` of a state.
pub(in crate::store) fn cause(state: State) -> Option<&'static str> {
    match state {
        State::Dead { cause } => Some(cause.code()),
        State::Scheduled { .. }
        | State::Leased { .. }
        | State::Held
        | State::Delivered
        | State::Cancelled => None,
    }
}
