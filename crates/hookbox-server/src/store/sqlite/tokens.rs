//! API tokens in `SQLite`: digests only.

use rusqlite::{Connection, params, params_from_iter};

use super::SqliteStore;
use super::rows::Blob;
use crate::model::TokenId;
use crate::store::columns::{Bounds, listing, token};
use crate::store::{Error, Listing, Page, Result, Token};

/// Every live token.
pub(super) fn all(db: &Connection) -> Result<Vec<Token>> {
    let mut statement = db.prepare_cached(include_str!("sql/token_list.sql"))?;
    let rows = statement.query_and_then(params![Blob([0; 16]), Blob([0xff; 16]), -1], |row| {
        token::read(row)
    })?;
    rows.collect()
}

impl SqliteStore {
    pub(super) async fn create_token(&self, new: Token) -> Result<()> {
        self.write(move |context| {
            context
                .db
                .prepare_cached(include_str!("sql/token_put.sql"))?
                .execute(params_from_iter(token::write(&new)))?;
            context.doors_changed = true;
            Ok(())
        })
        .await
    }

    pub(super) async fn tokens(&self, page: Page<TokenId>) -> Result<Listing<Token>> {
        self.read(move |db| {
            let bounds = Bounds::of(&page);
            let mut statement =
                db.prepare_cached(&bounds.ordered(include_str!("sql/token_list.sql")))?;
            let rows = statement.query_and_then(
                params![Blob(bounds.above.0), Blob(bounds.below.0), bounds.limit],
                |row| token::read(row),
            )?;
            Ok(listing(&page, rows.collect::<Result<_>>()?))
        })
        .await
    }

    pub(super) async fn revoke_token(&self, id: TokenId) -> Result<()> {
        self.write(move |context| {
            let gone = context
                .db
                .prepare_cached(include_str!("sql/token_delete.sql"))?
                .execute(params![Blob(id.0)])?;
            context.doors_changed = true;
            if gone == 0 {
                Err(Error::NotFound("token"))
            } else {
                Ok(())
            }
        })
        .await
    }
}
