//! How values go into and out of `SQLite`.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use crate::model::Time;
use crate::store::Result;
use crate::store::columns::{Columns, Value};

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

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Bool(value) => ValueRef::Integer(i64::from(*value)),
            Value::Int(value) => ValueRef::Integer(*value),
            Value::Text(value) => ValueRef::Text(value.as_bytes()),
            Value::OwnText(value) => ValueRef::Text(value.as_bytes()),
            Value::Bytes(value) => ValueRef::Blob(value),
            Value::OwnBytes(value) => ValueRef::Blob(value),
        }))
    }
}

impl Columns for rusqlite::Row<'_> {
    fn int(&self, at: usize) -> Result<Option<i64>> {
        Ok(self.get(at)?)
    }

    fn text(&self, at: usize) -> Result<Option<String>> {
        Ok(self.get(at)?)
    }

    fn bytes(&self, at: usize) -> Result<Option<Vec<u8>>> {
        Ok(self.get(at)?)
    }
}
