//! How things stand in columns: one file for each, the same for every database.
//!
//! Every driver selects the columns in the order that is read here, and binds the values in the order that
//! is written here.

pub(super) mod application;
pub(super) mod attempt;
mod bounds;
pub(super) mod delivery;
pub(super) mod endpoint;
pub(super) mod event_type;
pub(super) mod message;
pub(super) mod source;
pub(super) mod token;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub(super) use bounds::{Bounds, listing};

use super::{Error, Result};
use crate::model::Time;

/// A value to bind.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Text(&'a str),
    OwnText(String),
    Bytes(&'a [u8]),
    OwnBytes(Vec<u8>),
}

macro_rules! value_from {
    ($($type:ty => $make:expr),* $(,)?) => { $(
        impl<'a> From<$type> for Value<'a> {
            fn from(value: $type) -> Self {
                ($make)(value)
            }
        }
    )* };
}

value_from! {
    bool => Value::Bool,
    i64 => Value::Int,
    u16 => |value| Value::Int(i64::from(value)),
    u32 => |value| Value::Int(i64::from(value)),
    Time => |value: Time| Value::Int(value.0),
    &'a str => Value::Text,
    &'a String => |value: &'a String| Value::Text(value),
    String => Value::OwnText,
    &'a [u8] => Value::Bytes,
    &'a [u8; 16] => |value: &'a [u8; 16]| Value::Bytes(value),
    &'a [u8; 32] => |value: &'a [u8; 32]| Value::Bytes(value),
    Vec<u8> => Value::OwnBytes,
}

impl<'a, T> From<Option<T>> for Value<'a>
where
    T: Into<Self>,
{
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

/// A row of a result, read by the places of its columns.
pub(super) trait Columns {
    /// A number, a moment, or a flag.
    fn int(&self, at: usize) -> Result<Option<i64>>;
    /// The bytes of a text or of bytes.
    fn bytes(&self, at: usize) -> Result<Option<Vec<u8>>>;

    /// A text.
    fn text(&self, at: usize) -> Result<Option<String>> {
        self.bytes(at)?
            .map(|bytes| {
                String::from_utf8(bytes).map_err(|error| Error::Unreadable(error.to_string()))
            })
            .transpose()
    }

    /// An id or a digest.
    fn blob<const N: usize>(&self, at: usize) -> Result<[u8; N]> {
        self.optional_blob(at)?.ok_or_else(|| missing(at))
    }

    /// An id or a digest, or nothing.
    fn optional_blob<const N: usize>(&self, at: usize) -> Result<Option<[u8; N]>> {
        self.bytes(at)?
            .map(|bytes| {
                let length = bytes.len();
                bytes.try_into().map_err(|_| {
                    Error::Unreadable(format!("column {at} has {length} bytes instead of {N}"))
                })
            })
            .transpose()
    }

    /// A number that is there.
    fn number<T: TryFrom<i64>>(&self, at: usize) -> Result<T> {
        self.optional_number(at)?.ok_or_else(|| missing(at))
    }

    /// A number, or nothing.
    fn optional_number<T: TryFrom<i64>>(&self, at: usize) -> Result<Option<T>> {
        self.int(at)?
            .map(|number| {
                T::try_from(number)
                    .map_err(|_| Error::Unreadable(format!("column {at} is out of range")))
            })
            .transpose()
    }

    /// A yes or no.
    fn flag(&self, at: usize) -> Result<bool> {
        Ok(self.number::<i64>(at)? != 0)
    }

    /// A moment.
    fn time(&self, at: usize) -> Result<Time> {
        self.number(at).map(Time)
    }

    /// A text that is there.
    fn string(&self, at: usize) -> Result<String> {
        self.text(at)?.ok_or_else(|| missing(at))
    }

    /// What a text in JSON holds.
    fn json<T: DeserializeOwned>(&self, at: usize) -> Result<T> {
        from_json(&self.string(at)?)
    }

    /// What a text in JSON holds, or nothing.
    fn optional_json<T: DeserializeOwned>(&self, at: usize) -> Result<Option<T>> {
        self.text(at)?.map(|text| from_json(&text)).transpose()
    }
}

fn missing(at: usize) -> Error {
    Error::Unreadable(format!("column {at} is empty"))
}

pub(super) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value)
        .expect("maps with text keys and lists of text always have a JSON form")
}

fn from_json<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| Error::Unreadable(error.to_string()))
}
