//! One kept connection of the load generator.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The status of an answer, or why there is none.
pub(super) type Outcome = Result<u16, Trouble>;

/// Why a call has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(super) enum Trouble {
    #[error("no connection")]
    NoConnection,
    #[error("broke off")]
    BrokeOff,
    #[error("no answer in time")]
    Late,
}

/// A connection that is opened when it is needed, and again when the server has closed it.
#[derive(Debug)]
pub(super) struct Wire {
    addresses: Vec<SocketAddr>,
    sender: Option<SendRequest<Full<Bytes>>>,
}

impl Wire {
    pub(super) fn new(addresses: &[SocketAddr]) -> Self {
        Self {
            addresses: addresses.to_vec(),
            sender: None,
        }
    }

    /// Sends a request and reads its answer, of which only the status is kept.
    pub(super) async fn call(&mut self, request: Request<Full<Bytes>>) -> Outcome {
        let exchange = tokio::time::timeout(PATIENCE, self.exchange(request));
        let outcome = exchange.await.unwrap_or(Err(Trouble::Late));
        if outcome.is_err() {
            // What is left of the answer must not be read as the next one.
            self.sender = None;
        }
        outcome
    }

    async fn exchange(&mut self, mut request: Request<Full<Bytes>>) -> Outcome {
        loop {
            let (sender, kept) = self.open().await?;
            match sender.try_send_request(request).await {
                Ok(response) => return drain(response).await,
                Err(mut error) => {
                    self.sender = None;
                    // A server may close a kept connection at any time: what was not sent is sent on a new one.
                    request = error
                        .take_message()
                        .filter(|_| kept)
                        .ok_or(Trouble::BrokeOff)?;
                }
            }
        }
    }

    /// The connection, and whether it was used before.
    async fn open(&mut self) -> Result<(&mut SendRequest<Full<Bytes>>, bool), Trouble> {
        let ready = match &mut self.sender {
            Some(sender) => sender.ready().await.is_ok(),
            None => false,
        };
        if !ready {
            self.sender = Some(dial(&self.addresses).await?);
        }
        let sender = self.sender.as_mut().ok_or(Trouble::NoConnection)?;
        Ok((sender, ready))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "load must not share the way out of what it measures; target.rs has judged the address"
)]
async fn dial(addresses: &[SocketAddr]) -> Result<SendRequest<Full<Bytes>>, Trouble> {
    let failed = |_| Trouble::NoConnection;
    let stream = TcpStream::connect(addresses).await.map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    let (sender, connection) = handshake(TokioIo::new(stream))
        .await
        .map_err(|_| Trouble::NoConnection)?;
    tokio::spawn(connection);
    Ok(sender)
}

async fn drain(response: Response<Incoming>) -> Outcome {
    let status = response.status().as_u16();
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        frame.map_err(|_| Trouble::BrokeOff)?;
    }
    Ok(status)
}
