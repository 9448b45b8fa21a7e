//! Why a request was not done, and how that is said: the one place that knows status codes of failures.

use std::borrow::Cow;

use axum::http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::store;

/// Where in a request something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A field of the body.
    Body,
    /// A parameter of the address.
    Query,
    /// A header.
    Header,
}

/// Why a request was not done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It cannot be understood.
    Unclear(Cow<'static, str>),
    /// It would go beyond a limit.
    Limit(String),
    /// Its caller is not known.
    Unauthenticated,
    /// What it is about does not exist, or is another's.
    NotFound,
    /// Nothing is at its address.
    NoRoute,
    /// What is at its address does not know its method.
    NoMethod,
    /// Something that exists stands against it.
    Conflict(&'static str, Cow<'static, str>),
    /// It is too large.
    TooLarge,
    /// Its body is of a kind that is not read.
    MediaType(&'static str),
    /// A part of it is not valid.
    Invalid {
        /// Where.
        place: Place,
        /// Which part.
        name: String,
        /// What is wrong, without the value.
        problem: String,
        /// The stable name of the problem.
        kind: &'static str,
    },
    /// It was done before, and answered with this.
    Repeated(u16, Vec<u8>),
    /// It cannot be done now.
    Unavailable,
    /// It cannot be done, and the operator has to look.
    Broken,
}

impl Fault {
    /// A field of the body is not valid.
    pub(super) fn field(name: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::invalid(Place::Body, name, problem)
    }

    /// A part is not valid.
    pub(super) fn invalid(
        place: Place,
        name: impl Into<String>,
        problem: impl Into<String>,
    ) -> Self {
        Self::Invalid {
            place,
            name: name.into(),
            problem: problem.into(),
            kind: "value_error",
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::Unclear(_) | Self::Limit(_) => StatusCode::BAD_REQUEST,
            Self::Unauthenticated => StatusCode::UNAUTHORIZED,
            Self::NotFound | Self::NoRoute => StatusCode::NOT_FOUND,
            Self::NoMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::Conflict(..) => StatusCode::CONFLICT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::MediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Invalid { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Repeated(status, _) => StatusCode::from_u16(*status).unwrap_or(StatusCode::OK),
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Broken => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn body(self) -> Vec<u8> {
        let (code, detail): (_, Cow<'_, str>) = match self {
            Self::Repeated(_, body) => return body,
            Self::Invalid {
                place,
                name,
                problem,
                kind,
            } => return unprocessable(place, &name, &problem, kind),
            Self::Unclear(detail) => ("generic_error", detail),
            Self::Limit(detail) => ("limit_reached", detail.into()),
            Self::Unauthenticated => (
                "authentication_failed",
                "Send 'Authorization: Bearer' with a token of this server.".into(),
            ),
            Self::NotFound => ("not_found", "Entity not found".into()),
            Self::NoRoute => ("not_found", "There is nothing at this address.".into()),
            Self::NoMethod => (
                "method_not_allowed",
                "This address does not know that method; see the Allow header.".into(),
            ),
            Self::Conflict(code, detail) => (code, detail),
            Self::TooLarge => ("payload_too_large", "The body is larger than 1 MiB.".into()),
            Self::MediaType(detail) => ("unsupported_media_type", detail.into()),
            Self::Unavailable => (
                "unavailable",
                "The database is not available. Send this again later; with the same \
                 'idempotency-key' a message is recorded once."
                    .into(),
            ),
            Self::Broken => (
                "server_error",
                "Something is wrong with this server; its log says what.".into(),
            ),
        };
        json!({ "code": code, "detail": detail })
            .to_string()
            .into_bytes()
    }
}

fn unprocessable(place: Place, name: &str, problem: &str, kind: &str) -> Vec<u8> {
    let place = match place {
        Place::Body => "body",
        Place::Query => "query",
        Place::Header => "header",
    };
    let mut loc = vec![place];
    if !name.is_empty() {
        loc.push(name);
    }
    json!({ "detail": [{ "loc": loc, "msg": problem, "type": kind }] })
        .to_string()
        .into_bytes()
}

impl From<store::Error> for Fault {
    fn from(error: store::Error) -> Self {
        use store::Error as E;
        match error {
            E::NotFound(_) => Self::NotFound,
            E::Conflict(detail) => Self::Conflict("conflict", detail.into()),
            E::UnknownEventTypes(names) => Self::field(
                "eventTypes",
                format!("there are no such event types: {}", names.join(", ")),
            ),
            E::Repeated { status, body } => Self::Repeated(status, body),
            E::KeyReused => Self::Invalid {
                place: Place::Header,
                name: "idempotency-key".to_owned(),
                problem: "was used for another request".to_owned(),
                kind: "idempotency_key_reused",
            },
            E::Invalid { at, problem } => Self::field(at, problem),
            E::Unavailable(cause) => {
                tracing::warn!(%cause, "the database is unavailable; a request is refused");
                Self::Unavailable
            }
            E::Unreadable(cause) => {
                tracing::error!(%cause, "the database holds what cannot be read");
                Self::Broken
            }
        }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        const JSON: HeaderValue = HeaderValue::from_static("application/json");
        let status = self.status();
        let extra = match self {
            Self::Unauthenticated => Some((WWW_AUTHENTICATE, "Bearer")),
            Self::Unavailable => Some((RETRY_AFTER, "1")),
            // The rest of the body is not wanted, so the connection cannot be used again.
            Self::TooLarge => Some((CONNECTION, "close")),
            _ => None,
        };
        let mut response = (status, [(CONTENT_TYPE, JSON)], self.body()).into_response();
        if let Some((name, value)) = extra {
            response
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(fault: Fault) -> (u16, String) {
        let status = fault.status().as_u16();
        (status, String::from_utf8(fault.body()).unwrap())
    }

    #[test]
    fn bodies_have_the_two_known_shapes() {
        assert_eq!(
            said(Fault::NotFound),
            (
                404,
                r#"{"code":"not_found","detail":"Entity not found"}"#.to_owned()
            )
        );
        assert_eq!(
            said(Fault::field("url", "is no URL")),
            (
                422,
                r#"{"detail":[{"loc":["body","url"],"msg":"is no URL","type":"value_error"}]}"#
                    .to_owned()
            )
        );
        assert_eq!(
            said(Fault::Repeated(202, b"{\"id\":1}".to_vec())),
            (202, "{\"id\":1}".to_owned())
        );
        assert_eq!(said(store::Error::KeyReused.into()).0, 422);
        assert_eq!(
            said(Fault::Limit("x".into())).1,
            r#"{"code":"limit_reached","detail":"x"}"#
        );
    }

    #[test]
    fn what_the_database_said_stays_here() {
        let (status, body) = said(store::Error::Unavailable("disk /secret".into()).into());
        assert_eq!(status, 503);
        assert!(!body.contains("secret"));
    }
}
