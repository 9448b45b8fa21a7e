//! How values go to `PostgreSQL` and come back.

use bytes::BytesMut;
use postgres_protocol::types as wire;
use tokio_postgres::types::{FromSql, IsNull, Kind, ToSql, Type, to_sql_checked};

use super::text;
use crate::store::columns::{Columns, Value};
use crate::store::{Error, Result};

/// The types of a statement's parameters: each is cast where it stands first.
pub(super) fn types(text: &str) -> Vec<Type> {
    let mut types = Vec::new();
    while let Some(at) = text.find(&format!("${}::", types.len() + 1)) {
        let cast = text[at..].split_once("::").map_or("", |(_, rest)| rest);
        let end = cast
            .find(|c: char| !c.is_ascii_lowercase() && c != '[' && c != ']')
            .unwrap_or(cast.len());
        types.push(match &cast[..end] {
            "uuid" => Type::UUID,
            "uuid[]" => Type::UUID_ARRAY,
            "bigint" => Type::INT8,
            "bigint[]" => Type::INT8_ARRAY,
            "boolean" => Type::BOOL,
            "boolean[]" => Type::BOOL_ARRAY,
            "bytea" => Type::BYTEA,
            "bytea[]" => Type::BYTEA_ARRAY,
            "text[]" => Type::TEXT_ARRAY,
            _ => Type::TEXT,
        });
    }
    types
}

/// A value of each row, as one array.
#[derive(Debug)]
pub(in crate::store::cluster) struct Array<'a, 'b>(
    pub(in crate::store::cluster) Vec<&'b Value<'a>>,
);

type BoxedError = Box<dyn std::error::Error + Sync + Send>;

impl ToSql for Array<'_, '_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> std::result::Result<IsNull, BoxedError> {
        let Kind::Array(element) = ty.kind() else {
            return Err(format!("{ty} is no array").into());
        };
        let dimension = wire::ArrayDimension {
            len: i32::try_from(self.0.len())?,
            lower_bound: 1,
        };
        wire::array_to_sql(
            Some(dimension),
            element.oid(),
            self.0.iter(),
            |value, out| {
                value.to_sql(element, out).map(|null| match null {
                    IsNull::Yes => postgres_protocol::IsNull::Yes,
                    IsNull::No => postgres_protocol::IsNull::No,
                })
            },
            out,
        )?;
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl ToSql for Value<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> std::result::Result<IsNull, BoxedError> {
        match (self, ty) {
            (Self::Null, _) => return Ok(IsNull::Yes),
            (Self::Bool(value), _) => wire::bool_to_sql(*value, out),
            (Self::Int(value), &Type::INT4) => wire::int4_to_sql(i32::try_from(*value)?, out),
            (Self::Int(value), _) => wire::int8_to_sql(*value, out),
            (Self::Text(value), _) => wire::text_to_sql(value, out),
            (Self::OwnText(value), _) => wire::text_to_sql(value, out),
            (Self::Bytes(value), _) => wire::bytea_to_sql(value, out),
            (Self::OwnBytes(value), _) => wire::bytea_to_sql(value, out),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A row of a result.
pub(in crate::store::cluster) struct Row(pub(super) tokio_postgres::Row);

/// A value as it came, whatever its type.
struct Raw<'a>(&'a Type, &'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> std::result::Result<Self, BoxedError> {
        // The type lives as long as the row, but is lent for less: these are constants.
        let ty = match *ty {
            Type::BOOL => &Type::BOOL,
            Type::INT4 => &Type::INT4,
            Type::INT8 => &Type::INT8,
            _ => &Type::BYTEA,
        };
        Ok(Self(ty, raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl Columns for Row {
    fn int(&self, at: usize) -> Result<Option<i64>> {
        let value: Option<Raw<'_>> = self.0.try_get(at).map_err(|error| unreadable(&error))?;
        value
            .map(|Raw(ty, raw)| match *ty {
                Type::BOOL => wire::bool_from_sql(raw).map(i64::from),
                Type::INT4 => wire::int4_from_sql(raw).map(i64::from),
                _ => wire::int8_from_sql(raw),
            })
            .transpose()
            .map_err(|error| Error::Unreadable(error.to_string()))
    }

    fn bytes(&self, at: usize) -> Result<Option<Vec<u8>>> {
        let value: Option<Raw<'_>> = self.0.try_get(at).map_err(|error| unreadable(&error))?;
        Ok(value.map(|Raw(_, raw)| raw.to_vec()))
    }
}

fn unreadable(error: &tokio_postgres::Error) -> Error {
    Error::Unreadable(text(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_has_the_type_of_its_cast() {
        let text = "SELECT $2::text WHERE a = $1::uuid[] AND b = $1 AND c < $3::bigint)";
        assert_eq!(types(text), [Type::UUID_ARRAY, Type::TEXT, Type::INT8]);
        assert_eq!(types("SELECT 1"), []);
    }
}
