//! API tokens in columns: digests only.

use super::{Columns, Value};
use crate::model::TokenId;
use crate::store::{Result, Token};

pub(in crate::store) fn read(row: &impl Columns) -> Result<Token> {
    Ok(Token {
        id: TokenId(row.blob(0)?),
        name: row.string(1)?,
        digest: row.blob(2)?,
        created_at: row.time(3)?,
    })
}

pub(in crate::store) fn write(token: &Token) -> Vec<Value<'_>> {
    vec![
        (&token.id.0).into(),
        (&token.name).into(),
        (&token.digest).into(),
        token.created_at.into(),
    ]
}
