//! Tokens: what callers show.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{delete, get};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;

use super::asked::{Asked, At, Reply};
use super::page::{Order, list, page};
use super::query::Query;
use super::wire::not_empty;
use super::{Answer, Api, Fault, Shared, digest};
use crate::model::{Time, TokenId};
use crate::store::Token;

pub(super) fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/api/v1/token", get(list_all).post(create))
        .route("/api/v1/token/{token}", delete(revoke))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TokenOut<'a> {
    id: TokenId,
    name: &'a str,
    created_at: Time,
    /// The token itself; only in the answer that makes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
}

impl<'a> TokenOut<'a> {
    fn of(token: &'a Token, text: Option<&'a str>) -> Self {
        Self {
            id: token.id,
            name: &token.name,
            created_at: token.created_at,
            token: text,
        }
    }
}

/// A new token. It holds no dot: SDKs take what stands behind one for a region of Svix.
pub fn new_token() -> String {
    let bytes: [u8; 32] = rand::random();
    format!("hbt_{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// Not kept under an idempotency key: the token would be kept with it.
async fn create(State(api): Shared, asked: Asked) -> Answer {
    let mut fields = asked.fields()?;
    let name = fields
        .text("name")?
        .checked("name", |name| not_empty(name))?
        .required("name")?;
    fields.finish()?;
    let (text, now) = (new_token(), api.clock.now());
    let token = Token {
        id: TokenId::new(now),
        name,
        digest: digest(&text),
        created_at: now,
    };
    let reply = Reply::json(StatusCode::CREATED, &TokenOut::of(&token, Some(&text)))?;
    api.store.create_token(token).await?;
    Ok(reply)
}

async fn list_all(State(api): Shared, query: Query) -> Answer {
    let page = page(&query, Order::Descending, |text| text.parse().ok())?;
    let listing = api.store.tokens(page).await?;
    let data = listing
        .data
        .iter()
        .map(|token| TokenOut::of(token, None))
        .collect();
    list(&listing, |token| token.id.to_string(), data)
}

async fn revoke(State(api): Shared, At([id]): At<1>) -> Answer {
    let id = id.parse().map_err(|_| Fault::NotFound)?;
    api.store.revoke_token(id).await?;
    Ok(Reply::nothing())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_and_have_no_region() {
        let (one, two) = (new_token(), new_token());
        assert_ne!(one, two);
        assert_eq!(one.len(), 4 + 43);
        assert!(!one.contains('.'));
    }
}
