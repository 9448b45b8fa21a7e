//! Speaking to the API of a running server.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, USER_AGENT};
use http::{Method, Uri};
use serde_json::Value;

use super::answer::Answer;
use super::error::Error;
use crate::egress::{self, FailureKind, Limits, Policy, Request, Resolver};
use crate::model::Secret;
use crate::settings::Caller;

/// An answer of the API is not larger than this.
const LARGEST: usize = 64 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(30);

/// A server and the token that it knows.
#[derive(Debug)]
pub(super) struct Client {
    url: String,
    token: Option<Secret>,
    way: egress::Client,
}

/// A part of a path or query, encoded.
pub(super) fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes())
        .collect::<String>()
        .replace('+', "%20")
}

impl Client {
    pub(super) fn new(caller: Caller) -> Self {
        Self {
            url: caller.url,
            token: caller.token,
            way: egress::Client::new(Policy::Trusted, Resolver::system()),
        }
    }

    pub(super) async fn get(&self, path: &str) -> Result<Answer, Error> {
        self.call(Method::GET, path, None).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Answer, Error> {
        self.call(Method::POST, path, Some(body.to_string())).await
    }

    pub(super) async fn patch(&self, path: &str, body: &Value) -> Result<Answer, Error> {
        self.call(Method::PATCH, path, Some(body.to_string())).await
    }

    pub(super) async fn delete(&self, path: &str) -> Result<Answer, Error> {
        self.call(Method::DELETE, path, None).await
    }

    /// Calls the API with a body as it stands.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<Answer, Error> {
        let (status, text) = self.raw(method, path, body).await?;
        let answer = Answer::read(status, &text);
        let said = detail(answer.as_ref().map_or(&Value::Null, Answer::value), status);
        match (status, answer) {
            (200..=299, Some(answer)) => Ok(answer),
            (200..=299, None) => Err(Error::Failed(format!(
                "what answers at {} is not a hookbox",
                self.url
            ))),
            (401 | 403, _) => {
                let said = said.trim_end_matches('.').to_owned();
                Err(Error::NotAuthorized(said))
            }
            (404, _) => Err(Error::NotFound(said)),
            _ => Err(Error::Failed(said)),
        }
    }

    /// Calls the server, and returns whatever it answers.
    pub(super) async fn raw(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<(u16, Bytes), Error> {
        let uri: Uri = format!("{}{path}", self.url)
            .parse()
            .map_err(|_| Error::Failed(format!("'{path}' cannot be asked for")))?;
        let mut headers = HeaderMap::new();
        headers.insert(
            USER_AGENT,
            HeaderValue::from_static(concat!("hookbox-cli/", env!("CARGO_PKG_VERSION"))),
        );
        if body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(token) = &self.token {
            let mut value =
                HeaderValue::from_str(&format!("Bearer {}", token.expose())).map_err(|_| {
                    Error::NotAuthorized("the token has characters that no token has".to_owned())
                })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let limits = Limits {
            deadline: PATIENCE,
            kept: LARGEST,
            read: LARGEST,
        };
        let request = Request {
            uri,
            headers,
            body: body.unwrap_or_default().into(),
        };
        match self.way.exchange(method, request, &limits).await {
            Ok(answer) if answer.body_complete => Ok((answer.status, answer.body)),
            Ok(_) => Err(Error::Failed("the answer broke off".to_owned())),
            Err(failure) => match failure.kind {
                FailureKind::Connect
                | FailureKind::ConnectRefused
                | FailureKind::Unreachable
                | FailureKind::Resolve
                | FailureKind::NoResolver => Err(Error::NoServer(self.url.clone())),
                FailureKind::Timeout if !failure.sent => Err(Error::NoServer(self.url.clone())),
                _ => Err(Error::Failed(failure.to_string())),
            },
        }
    }
}

/// What the API said was wrong.
fn detail(answer: &Value, status: u16) -> String {
    match &answer["detail"] {
        Value::String(text) => text.clone(),
        Value::Array(faults) => {
            let sentence = |fault: &Value| {
                let place = fault["loc"]
                    .as_array()
                    .and_then(|loc| loc.last()?.as_str())
                    .unwrap_or("body");
                format!("{place}: {}", fault["msg"].as_str().unwrap_or_default())
            };
            faults.iter().map(sentence).collect::<Vec<_>>().join("\n")
        }
        _ => format!("the server answered {status}"),
    }
}
