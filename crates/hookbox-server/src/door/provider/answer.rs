//! What a provider is answered.

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::Response;
use hookbox::Refusal;
use serde_json::json;

use crate::store::Recorded;

/// Why a request was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// There is no source of this name.
    UnknownSource,
    /// Only POST brings an event.
    Method,
    /// The body did not arrive in time.
    TooSlow,
    /// The body broke off, or was not a body.
    Unreadable,
    /// The body is larger than the source takes.
    TooLarge,
    /// The request is not proven to be the provider's.
    Unverified(Refusal),
    /// The source is not in a state to verify anything.
    CannotVerify,
    /// The database did not say that it took it. If it did, the provider's repeat is a duplicate.
    NotRecorded,
}

impl Refused {
    /// The stable name of the cause.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::UnknownSource => "not_found",
            Self::Method => "method_not_allowed",
            Self::TooSlow => "request_timeout",
            Self::Unreadable => "body_unreadable",
            Self::TooLarge => "payload_too_large",
            Self::Unverified(refusal) => refusal.code(),
            Self::CannotVerify => "source_misconfigured",
            Self::NotRecorded => "not_recorded",
        }
    }

    fn status(self) -> StatusCode {
        match self {
            Self::UnknownSource => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unreadable | Self::Unverified(_) => StatusCode::BAD_REQUEST,
            Self::CannotVerify | Self::NotRecorded => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn detail(self) -> String {
        match self {
            Self::UnknownSource => "there is no source of this name".to_owned(),
            Self::Method => "send events with POST".to_owned(),
            Self::TooSlow => "the body did not arrive in time".to_owned(),
            Self::Unreadable => "the body could not be read".to_owned(),
            Self::TooLarge => "the body is larger than this source takes".to_owned(),
            Self::Unverified(refusal) => refusal.to_string(),
            Self::CannotVerify => {
                "this source cannot verify requests now; send it again later".to_owned()
            }
            Self::NotRecorded => {
                "the event may not have been recorded; send it again later".to_owned()
            }
        }
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self::Unverified(refusal)
    }
}

impl From<Refused> for Response {
    fn from(refused: Refused) -> Self {
        let body = json!({"code": refused.code(), "detail": refused.detail()}).to_string();
        let mut response = json_response(refused.status(), body);
        let headers = response.headers_mut();
        match refused {
            Refused::Method => {
                headers.insert(header::ALLOW, header::HeaderValue::from_static("POST"));
            }
            Refused::CannotVerify | Refused::NotRecorded => {
                headers.insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
            }
            // The rest of the body is not wanted, so the connection cannot be used again.
            Refused::TooLarge | Refused::TooSlow | Refused::Unreadable => {
                headers.insert(
                    header::CONNECTION,
                    header::HeaderValue::from_static("close"),
                );
            }
            Refused::UnknownSource | Refused::Unverified(_) => {}
        }
        response
    }
}

/// The answer to an event that is durable.
pub(super) fn accepted(recorded: Recorded) -> Response {
    let body = match recorded {
        Recorded::New(_) => r#"{"received":true}"#,
        Recorded::Duplicate(_) => r#"{"received":true,"duplicate":true}"#,
        Recorded::Quarantined(_) => r#"{"received":true,"quarantined":true}"#,
    };
    json_response(StatusCode::OK, body.to_owned())
}

fn json_response(status: StatusCode, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let json = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
