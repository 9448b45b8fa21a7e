//! API tokens in `SQLite`: digests only.

use rusqlite::{Connection, Row, params};

use super::SqliteStore;
use super::rows::{Blob, Bounds, listing};
use crate::model::{Time, TokenId};
use crate::store::{Error, Listing, Page, Result, Token};

fn read(row: &Row<'_>) -> Result<Token> {
    Ok(Token {
        id: TokenId(row.get::<_, Blob<16>>(0)?.0),
        name: row.get(1)?,
        digest: row.get::<_, Blob<32>>(2)?.0,
        created_at: row.get::<_, Time>(3)?,
    })
}

/// Every live token.
pub(super) fn all(db: &Connection) -> Result<Vec<Token>> {
    let mut statement = db.prepare_cached(include_str!("sql/token_list.sql"))?;
    let rows = statement.query_and_then(params![Blob([0; 16]), Blob([0xff; 16]), -1], read)?;
    rows.collect()
}

impl SqliteStore {
    pub(super) async fn create_token(&self, new: Token) -> Result<()> {
        self.write(move |context| {
            context
                .db
                .prepare_cached(include_str!("sql/token_put.sql"))?
                .execute(params![
                    Blob(new.id.0),
                    new.name,
                    Blob(new.digest),
                    new.created_at
                ])?;
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
                read,
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
