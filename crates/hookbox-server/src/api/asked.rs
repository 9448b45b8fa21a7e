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
use super::error::Place;
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

/// The parameters after the `?`. Unknown ones are ignored, as SDKs of all ages send them.
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    fn read(query: Option<&str>) -> Self {
        let pairs = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        Self(pairs.into_owned().collect())
    }

    /// The text of a parameter; none when it is empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// A parameter that is read by `read`; `what` says what it must be.
    pub(super) fn parsed<T>(
        &self,
        name: &str,
        what: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let wrong = || Fault::invalid(Place::Query, name, format!("must be {what}"));
        self.text(name)
            .map(|text| read(text).ok_or_else(wrong))
            .transpose()
    }

    /// A parameter that is `true` or `false`.
    pub(super) fn flag(&self, name: &str, otherwise: bool) -> Result<bool, Fault> {
        let read = |text: &str| text.parse().ok();
        Ok(self
            .parsed(name, "true or false", read)?
            .unwrap_or(otherwise))
    }

    /// A parameter that is a moment.
    pub(super) fn time(&self, name: &str) -> Result<Option<Time>, Fault> {
        self.parsed(name, "a moment such as 2026-11-30T12:00:00Z", |text| {
            // In a query a bare `+` stands for a space; here it can only be a zone's sign.
            Time::parse(&text.replace(' ', "+")).filter(|at| at.0 >= 0)
        })
    }

    /// A list: `name=a,b`, `name[]=a&name[]=b` or `name[0]=a`.
    pub(super) fn list(&self, name: &str) -> Vec<&str> {
        let named = |known: &str| {
            known.strip_prefix(name).is_some_and(|rest| {
                rest.is_empty() || (rest.starts_with('[') && rest.ends_with(']'))
            })
        };
        let values = self.0.iter().filter(|(known, _)| named(known));
        values
            .flat_map(|(_, value)| value.split(','))
            .filter(|value| !value.is_empty())
            .collect()
    }

    /// Refuses a filter that is not kept: leaving it out would show what was not asked for.
    pub(super) fn refuse(&self, name: &str) -> Result<(), Fault> {
        match self.text(name) {
            Some(_) => Err(Fault::invalid(
                Place::Query,
                name,
                "is not supported by this server",
            )),
            None => Ok(()),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Fault> {
        Ok(Self::read(parts.uri.query()))
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
    fn lists_come_in_three_spellings() {
        for text in [
            "e=a,b",
            "e[]=a&e[]=b",
            "e[0]=a&e[1]=b",
            "e%5B%5D=a&e=b&other=c",
        ] {
            assert_eq!(Query::read(Some(text)).list("e"), ["a", "b"], "{text}");
        }
        assert!(Query::read(Some("e=")).list("e").is_empty());
    }

    #[test]
    fn moments_need_a_zone() {
        let time = |text: &str| Query::read(Some(&format!("before={text}"))).time("before");
        assert_eq!(time("1970-01-01T01:00:01+01:00"), Ok(Some(Time(1000))));
        assert_eq!(time("1970-01-01T01:00:01%2B01:00"), Ok(Some(Time(1000))));
        assert_eq!(time(""), Ok(None));
        for text in [
            "1970-01-01T00:00:00",
            "0000-01-01T00:00:00Z",
            "275760-01-01T00:00:00Z",
            "x",
        ] {
            assert!(time(text).is_err(), "{text}");
        }
    }

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
