//! A request, taken apart; and the reply, before it is sent.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::Serialize;

use super::auth::Caller;
use super::query::Query;
use super::wire::{Fields, is_name};
use super::{Api, Fault, once};
use crate::model::Time;
use crate::store::Once;

/// The largest body that the API reads.
const CAP: usize = 1024 * 1024;

/// The names in the address, in order. A text that can be nobody's name is nobody's name.
pub(super) struct At<const N: usize>(pub(super) [String; N]);

impl<const N: usize, S: Send + Sync> FromRequestParts<S> for At<N> {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Fault> {
        let params = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(|_: RawPathParamsRejection| Fault::NotFound)?;
        let names: Vec<String> = params.iter().map(|(_, name)| name.to_owned()).collect();
        if !names.iter().all(|name| is_name(name)) {
            return Err(Fault::NotFound);
        }
        names.try_into().map(Self).map_err(|_| Fault::NotFound)
    }
}

/// A request that may change something.
pub(super) struct Asked {
    /// The parameters after the `?`.
    pub(super) query: Query,
    /// The exact body.
    pub(super) body: Bytes,
    /// The digests of its idempotency key and of itself, when it has a key.
    once: Option<([u8; 32], [u8; 32])>,
}

impl Asked {
    /// The fields of the body.
    pub(super) fn fields(&self) -> Result<Fields<'_>, Fault> {
        Fields::read(&self.body)
    }

    /// The fields of a body that may be left out.
    pub(super) fn fields_if_any(&self) -> Result<Fields<'_>, Fault> {
        if self.body.is_empty() {
            return Ok(Fields::none());
        }
        self.fields()
    }

    /// What makes the store give the same answer to a repeat.
    pub(super) fn once(&self, reply: &Reply, at: Time) -> Option<Once> {
        self.once.map(|(key, request)| Once {
            key,
            request,
            status: reply.status.as_u16(),
            body: reply.body.clone(),
            at,
        })
    }
}

impl FromRequest<Arc<Api>> for Asked {
    type Rejection = Fault;

    async fn from_request(request: Request, _: &Arc<Api>) -> Result<Self, Fault> {
        let (parts, body) = request.into_parts();
        let caller = parts
            .extensions
            .get::<Caller>()
            .ok_or(Fault::Unauthenticated)?;
        let key = once::key(&parts.headers)?.map(|key| once::key_digest(*caller, key));
        let body = read_body(&parts.headers, body).await?;
        let once = key.map(|key| (key, once::request_digest(&parts.method, &parts.uri, &body)));
        Ok(Self {
            query: Query::read(parts.uri.query()),
            body,
            once,
        })
    }
}

async fn read_body(headers: &HeaderMap, body: Body) -> Result<Bytes, Fault> {
    let declared = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok());
    let declared = declared.and_then(|length| length.parse::<u64>().ok());
    if declared.is_some_and(|length| length > CAP as u64) {
        return Err(Fault::TooLarge);
    }
    let whole = Limited::new(body, CAP).collect().await;
    let body = whole.map_err(|error| match error.downcast::<LengthLimitError>() {
        Ok(_) => Fault::TooLarge,
        Err(_) => Fault::Unclear("The body did not arrive whole.".into()),
    })?;
    let body = body.to_bytes();
    if !body.is_empty() {
        is_json(headers)?;
    }
    Ok(body)
}

/// A body says that it is JSON: what a form on a stranger's page can send does not, and is refused.
fn is_json(headers: &HeaderMap) -> Result<(), Fault> {
    let text = |name| {
        headers
            .get(name)
            .map(|value: &HeaderValue| value.to_str().unwrap_or("?"))
    };
    if text(CONTENT_ENCODING).is_some_and(|coding| !coding.eq_ignore_ascii_case("identity")) {
        return Err(Fault::MediaType(
            "Send the body without a content-encoding.",
        ));
    }
    let kind = text(CONTENT_TYPE).unwrap_or_default();
    let kind = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    if kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json")) {
        return Ok(());
    }
    Err(Fault::MediaType(
        "Send the body as JSON, with 'content-type: application/json'.",
    ))
}

/// A success, not yet sent: a store call may have to keep it with what it does.
pub(super) struct Reply {
    status: StatusCode,
    body: Vec<u8>,
}

impl Reply {
    /// A reply with a body.
    pub(super) fn json(status: StatusCode, body: &impl Serialize) -> Result<Self, Fault> {
        let body = serde_json::to_vec(body).map_err(|error| {
            tracing::error!(%error, "an answer cannot be written as JSON");
            Fault::Broken
        })?;
        Ok(Self { status, body })
    }

    /// 200 with a body.
    pub(super) fn ok(body: &impl Serialize) -> Result<Self, Fault> {
        Self::json(StatusCode::OK, body)
    }

    /// 204.
    pub(super) fn nothing() -> Self {
        Self {
            status: StatusCode::NO_CONTENT,
            body: Vec::new(),
        }
    }

    #[cfg(test)]
    pub(super) fn text(self) -> String {
        String::from_utf8(self.body).expect("JSON is UTF-8")
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        const JSON: HeaderValue = HeaderValue::from_static("application/json");
        if self.body.is_empty() {
            return self.status.into_response();
        }
        (self.status, [(CONTENT_TYPE, JSON)], self.body).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_is_read() {
        let check = |kind: Option<&str>| {
            let mut headers = HeaderMap::new();
            if let Some(kind) = kind {
                headers.insert(CONTENT_TYPE, kind.parse().unwrap());
            }
            is_json(&headers).is_ok()
        };
        for kind in [
            "application/json",
            "Application/JSON; charset=utf-8",
            "application/cloudevents+json",
        ] {
            assert!(check(Some(kind)), "{kind}");
        }
        for kind in [
            None,
            Some("text/plain"),
            Some("application/x-www-form-urlencoded"),
            Some("text/json"),
        ] {
            assert!(!check(kind), "{kind:?}");
        }
    }
}
