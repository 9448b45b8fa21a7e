//! Who asks.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq as _;

use super::{Api, Fault};
use crate::model::TokenId;
use crate::store::Error;

/// What is kept of a token: 32 random bytes need no slow hash.
#[must_use]
pub fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// A caller that has shown a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// With the operator's own token.
    Admin,
    /// With one made over the API.
    Token(TokenId),
}

impl Caller {
    /// Keeps one caller's idempotency keys from another's.
    pub(super) fn bytes(self) -> [u8; 16] {
        match self {
            Self::Admin => [0; 16],
            Self::Token(id) => id.0,
        }
    }
}

/// Lets only known callers through, and says who it is.
pub(super) async fn require(
    State(api): State<Arc<Api>>,
    mut request: Request,
    next: Next,
) -> Response {
    match identify(&api, request.headers()).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(fault) => fault.into_response(),
    }
}

async fn identify(api: &Api, headers: &HeaderMap) -> Result<Caller, Fault> {
    let digest = digest(bearer(headers).ok_or(Fault::Unauthenticated)?);
    if api
        .admin
        .is_some_and(|admin| bool::from(admin.ct_eq(&digest)))
    {
        return Ok(Caller::Admin);
    }
    match api.store.token(digest).await {
        Ok(token) => Ok(Caller::Token(token.id)),
        Err(Error::NotFound(_)) => Err(Fault::Unauthenticated),
        Err(error) => Err(error.into()),
    }
}

/// The one token of the request; two of them would leave open which one counts.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (all.next(), all.next()) else {
        return None;
    };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(values: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, value.parse().unwrap());
        }
        bearer(&headers).map(str::to_owned)
    }

    #[test]
    fn one_bearer_token_and_nothing_else() {
        assert_eq!(token(&["Bearer abc"]).as_deref(), Some("abc"));
        assert_eq!(token(&["bearer  abc "]).as_deref(), Some("abc"));
        for values in [
            &[][..],
            &["Bearer "],
            &["Bearer"],
            &["abc"],
            &["Basic abc"],
            &["Bearer abc", "Bearer abc"],
        ] {
            assert_eq!(token(values), None, "{values:?}");
        }
    }
}
