//! A client that sends what it is told, byte for byte, and reads any answer.

use std::convert::Infallible;
use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::Frame;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client as Pool, Error};
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::clock::PATIENCE;
use crate::sign::Signed;

type Body = BoxBody<Bytes, Infallible>;

/// Speaks to one server.
#[derive(Clone, Debug)]
pub struct Client {
    base: String,
    token: Option<String>,
    pool: Pool<HttpConnector, Body>,
}

/// An answer, read whole.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl Reply {
    /// The body as JSON; `Null` when there is none.
    ///
    /// # Panics
    /// When the body is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        if self.body.is_empty() {
            return Value::Null;
        }
        match serde_json::from_slice(&self.body) {
            Ok(value) => value,
            Err(error) => panic!("not JSON ({error}): {self:?}"),
        }
    }

    /// The stable code of an error.
    #[must_use]
    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }

    /// The body as JSON, after a look at the status.
    ///
    /// # Panics
    /// When the status is another one.
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        self.json()
    }
}

impl Client {
    /// A client of `http://address`.
    #[must_use]
    pub fn new(address: SocketAddr) -> Self {
        let pool = Pool::builder(TokioExecutor::new())
            .retry_canceled_requests(false)
            .build_http();
        Self {
            base: format!("http://{address}"),
            token: None,
            pool,
        }
    }

    /// The same client, with a bearer token.
    #[must_use]
    pub fn with_token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// Sends a request and reads the answer.
    ///
    /// # Errors
    /// What went wrong before the whole answer was here.
    pub async fn try_send(
        &self,
        method: Method,
        path: &str,
        headers: &[(String, String)],
        body: Body,
    ) -> Result<Reply, String> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base));
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(body).map_err(|error| error.to_string())?;
        let answer = tokio::time::timeout(PATIENCE, self.answer(request)).await;
        answer
            .map_err(|_| format!("no answer in {} s", PATIENCE.as_secs()))?
            .map_err(|error| format!("{error:?}"))
    }

    async fn answer(&self, request: Request<Body>) -> Result<Reply, Error> {
        let (parts, body) = self.pool.request(request).await?.into_parts();
        // An answer that breaks off reads as one without a body; tests look at what is in it.
        let body = body
            .collect()
            .await
            .map(http_body_util::Collected::to_bytes);
        Ok(Reply {
            status: parts.status,
            headers: parts.headers,
            body: body.unwrap_or_default(),
        })
    }

    /// Sends a request that must be answered.
    ///
    /// # Panics
    /// When it is not.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Reply {
        let sent = self
            .try_send(method.clone(), path, headers, full(body))
            .await;
        match sent {
            Ok(reply) => reply,
            Err(error) => panic!("{method} {path}: {error}"),
        }
    }

    /// Gets a path.
    pub async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, &[], b"").await
    }

    /// Deletes a path.
    pub async fn delete(&self, path: &str) -> Reply {
        self.send(Method::DELETE, path, &[], b"").await
    }

    /// Posts JSON.
    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.post_text(path, &body.to_string()).await
    }

    /// Posts text that says it is JSON.
    pub async fn post_text(&self, path: &str, body: &str) -> Reply {
        self.send(Method::POST, path, &json_header(), body.as_bytes())
            .await
    }

    /// Puts JSON.
    pub async fn put(&self, path: &str, body: &Value) -> Reply {
        let body = body.to_string();
        self.send(Method::PUT, path, &json_header(), body.as_bytes())
            .await
    }

    /// Patches with JSON.
    pub async fn patch(&self, path: &str, body: &Value) -> Reply {
        let body = body.to_string();
        self.send(Method::PATCH, path, &json_header(), body.as_bytes())
            .await
    }

    /// Sends a provider's event to a source.
    pub async fn event(&self, source: &str, event: &Signed) -> Reply {
        let path = format!("/in/{source}");
        self.send(Method::POST, &path, &event.headers, &event.body)
            .await
    }

    /// Sends a provider's event in pieces, without telling its length.
    pub async fn event_in_pieces(
        &self,
        source: &str,
        event: &Signed,
        piece: usize,
    ) -> Result<Reply, String> {
        let pieces: Vec<Bytes> = event
            .body
            .chunks(piece)
            .map(Bytes::copy_from_slice)
            .collect();
        let frames = pieces.into_iter().map(|piece| Ok(Frame::data(piece)));
        let body = StreamBody::new(futures_util::stream::iter(frames)).boxed();
        let path = format!("/in/{source}");
        self.try_send(Method::POST, &path, &event.headers, body)
            .await
    }
}

/// A body that tells its length.
#[must_use]
pub fn full(body: &[u8]) -> Body {
    Full::new(Bytes::copy_from_slice(body)).boxed()
}

fn json_header() -> [(String, String); 1] {
    [("content-type".to_owned(), "application/json".to_owned())]
}

/// Writes raw bytes to a connection of its own and reads until the other side closes it or has said enough
/// for one answer.
///
/// # Panics
/// When there is no connection.
#[expect(
    clippy::disallowed_methods,
    reason = "a client that speaks broken HTTP"
)]
pub async fn raw(address: SocketAddr, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    // The server may answer and close before it has read everything.
    let _ = stream.write_all(request).await;
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
    answer
}
