//! Sending one request, within limits of time and size.

use std::error::Error as _;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http::header::RETRY_AFTER;
use http::{HeaderMap, Method, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::{self, Client as Pool};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::connect::{Connector, NoConnection};
use super::policy::Policy;
use super::resolve::Resolver;

/// Idle connections to one host that are kept for the next request.
const IDLE: usize = 64;
/// How long one is kept. A name may point elsewhere by then.
const IDLE_FOR: Duration = Duration::from_secs(30);
/// Bytes of an answer's head.
const HEAD: usize = 64 * 1024;
/// Headers of an answer.
const HEADERS: usize = 100;

/// What one request may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Everything, from the name to the end of the answer.
    pub deadline: Duration,
    /// Bytes of the answer's body that are kept.
    pub kept: usize,
    /// Bytes of the answer's body that are read; the connection is dropped when there are more.
    pub read: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(15),
            kept: 16 * 1024,
            read: 64 * 1024,
        }
    }
}

/// A POST to send.
#[derive(Debug)]
pub struct Request {
    /// Where to.
    pub uri: Uri,
    /// All headers but those that the connection needs.
    pub headers: HeaderMap,
    /// The exact bytes.
    pub body: Bytes,
}

/// What was answered.
#[derive(Debug)]
pub struct Answer {
    /// 200 to 599.
    pub status: u16,
    /// The value of `Retry-After`, as it came.
    pub retry_after: Option<String>,
    /// The beginning of the body.
    pub body: Bytes,
    /// Whether the body was read to its end. The status counts either way.
    pub body_complete: bool,
    /// How long it took.
    pub duration: Duration,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The target may not be reached. Trying again will not help.
    TargetRefused,
    /// No request can be made of it. Trying again will not help.
    Unsendable,
    /// The name could not be resolved.
    Resolve,
    /// The resolver did not answer. That may be our own fault.
    NoResolver,
    /// There was no connection.
    Connect,
    /// The other side was reached, and wants no connection.
    ConnectRefused,
    /// There is no way to the address, or nobody answered there in time. That may be our own fault.
    Unreachable,
    /// There was no secure connection.
    Tls,
    /// The deadline passed.
    Timeout,
    /// What came back was no answer, or the connection broke.
    Protocol,
}

/// A request without an answer.
#[derive(Debug, thiserror::Error)]
#[error("{}: {detail}", self.code())]
pub struct Failure {
    /// Why.
    pub kind: FailureKind,
    /// The cause in words, for the operator alone: it may tell what lies behind an address.
    pub detail: String,
    /// The receiver may have got the request all the same.
    pub sent: bool,
    /// How long it took.
    pub duration: Duration,
}

impl Failure {
    /// A request that could not be made.
    #[must_use]
    pub fn unsendable(detail: &str) -> Self {
        Self {
            kind: FailureKind::Unsendable,
            detail: detail.to_owned(),
            sent: false,
            duration: Duration::ZERO,
        }
    }

    /// The stable name of the cause, fit for the endpoint's owner.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self.kind {
            FailureKind::TargetRefused => "target_not_allowed",
            FailureKind::Unsendable => "unsendable",
            FailureKind::Resolve | FailureKind::NoResolver => "name_not_resolved",
            // What exactly failed would tell a stranger what lies behind an address.
            FailureKind::Connect | FailureKind::ConnectRefused | FailureKind::Unreachable => {
                "could_not_connect"
            }
            FailureKind::Tls => "tls_failed",
            FailureKind::Timeout => "timeout",
            FailureKind::Protocol => "connection_broken",
        }
    }
}

/// Sends requests under one policy. A connection made under one policy is never used under another.
#[derive(Clone, Debug)]
pub struct Client {
    pool: Pool<Connector, Full<Bytes>>,
}

impl Client {
    /// A client with connections of its own.
    #[must_use]
    pub fn new(policy: Policy, resolver: Resolver) -> Self {
        let pool = Pool::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_FOR)
            .pool_max_idle_per_host(IDLE)
            .http1_max_buf_size(HEAD)
            .http1_max_headers(HEADERS)
            .build(Connector::new(policy, resolver));
        Self { pool }
    }

    /// Sends a POST and reads the answer.
    ///
    /// # Errors
    /// Why there is no answer. An answer of any status is none of these, redirects included: they are not followed.
    pub async fn send(&self, request: Request, limits: &Limits) -> Result<Answer, Failure> {
        self.exchange(Method::POST, request, limits).await
    }

    /// The same with any method.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub async fn exchange(
        &self,
        method: Method,
        request: Request,
        limits: &Limits,
    ) -> Result<Answer, Failure> {
        let began = Instant::now();
        let failed = |kind, detail: String, sent| Failure {
            kind,
            detail,
            sent,
            duration: began.elapsed(),
        };
        let mut outgoing = http::Request::new(Full::new(request.body));
        *outgoing.method_mut() = method;
        *outgoing.uri_mut() = request.uri;
        *outgoing.headers_mut() = request.headers;
        let head = tokio::time::timeout(limits.deadline, self.pool.request(outgoing)).await;
        let response = match head {
            Err(_) => {
                return Err(failed(
                    FailureKind::Timeout,
                    "no answer in time".to_owned(),
                    true,
                ));
            }
            Ok(Err(error)) => {
                let (kind, detail) = explain(&error);
                return Err(failed(kind, detail, !error.is_connect()));
            }
            Ok(Ok(response)) => response,
        };
        let status = response.status().as_u16();
        if !(200..600).contains(&status) {
            return Err(failed(
                FailureKind::Protocol,
                format!("the answer has status {status}"),
                true,
            ));
        }
        let retry_after = response
            .headers()
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        let left = limits.deadline.saturating_sub(began.elapsed());
        let (body, body_complete) = read(response, limits, left).await;
        Ok(Answer {
            status,
            retry_after,
            body,
            body_complete,
            duration: began.elapsed(),
        })
    }
}

/// Reads what is wanted of a body. What fails here changes nothing about the status.
async fn read(response: Response<Incoming>, limits: &Limits, left: Duration) -> (Bytes, bool) {
    let mut body = response.into_body();
    let (mut kept, mut seen, mut complete) = (BytesMut::new(), 0, false);
    let reading = async {
        loop {
            match body.frame().await {
                None => return complete = true,
                Some(Err(_)) => return,
                Some(Ok(frame)) => {
                    let Ok(data) = frame.into_data() else {
                        continue;
                    };
                    seen += data.len();
                    let room = limits.kept.saturating_sub(kept.len()).min(data.len());
                    kept.extend_from_slice(&data[..room]);
                    if seen > limits.read {
                        return;
                    }
                }
            }
        }
    };
    let _ = tokio::time::timeout(left, reading).await;
    (kept.freeze(), complete)
}

fn explain(error: &legacy::Error) -> (FailureKind, String) {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(none) = cause.downcast_ref::<NoConnection>() {
            let kind = match none {
                NoConnection::Refused => FailureKind::TargetRefused,
                NoConnection::Unresolved => FailureKind::Resolve,
                NoConnection::NoResolver => FailureKind::NoResolver,
                NoConnection::Connect(_) => FailureKind::Connect,
                NoConnection::ConnectRefused(_) => FailureKind::ConnectRefused,
                NoConnection::Unreachable(_) => FailureKind::Unreachable,
                NoConnection::Tls(_) => FailureKind::Tls,
            };
            return (kind, none.to_string());
        }
        source = cause.source();
    }
    (
        FailureKind::Protocol,
        error
            .source()
            .map_or_else(|| error.to_string(), ToString::to_string),
    )
}
