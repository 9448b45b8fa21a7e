//! The receiver at the other end: answers, and notes what came.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use super::ledger::Ledger;
use super::target::on_this_machine;
use crate::cli::error::Error;

/// How the sink behaves.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct Manner {
    /// Milliseconds that the sink waits before it answers
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub(super) delay_ms: u32,
    /// Forget so many arrivals, to see that the report says so
    #[arg(long, hide = true, default_value_t = 0)]
    pub(super) lose: u32,
}

/// A running sink; it ends with the command.
#[derive(Debug)]
pub(super) struct Sink {
    pub(super) address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    ledger: RwLock<Option<Arc<Ledger>>>,
    delay: Duration,
    /// Arrivals still to be forgotten.
    lose: AtomicU32,
}

impl Sink {
    pub(super) async fn start(
        address: SocketAddr,
        manner: Manner,
        anywhere: bool,
    ) -> Result<Self, Error> {
        on_this_machine(address, anywhere)?;
        let failed = |error: std::io::Error| {
            Error::Failed(format!("the sink cannot listen on {address}: {error}"))
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let shared = Arc::new(Shared {
            ledger: RwLock::new(None),
            delay: Duration::from_millis(manner.delay_ms.into()),
            lose: AtomicU32::new(0),
        });
        tokio::spawn(serve(listener, Arc::clone(&shared)));
        Ok(Self { address, shared })
    }

    /// From now on, notes what comes in this ledger, except for the first `lose` arrivals.
    pub(super) fn keep(&self, ledger: &Arc<Ledger>, lose: u32) {
        self.shared.lose.store(lose, Relaxed);
        let mut kept = self
            .shared
            .ledger
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *kept = Some(Arc::clone(ledger));
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(converse(stream, Arc::clone(&shared)));
    }
}

async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| receive(&shared, request));
    // A sender that goes away tries again; what it did not end is not noted.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn receive(
    shared: &Shared,
    request: Request<Incoming>,
) -> Result<Response<Empty<Bytes>>, Infallible> {
    let endpoint = endpoint(request.uri().path());
    if let Ok(body) = request.into_body().collect().await {
        shared.note(endpoint, &body.to_bytes());
    }
    if !shared.delay.is_zero() {
        tokio::time::sleep_until(tokio::time::Instant::now() + shared.delay).await;
    }
    Ok(Response::new(Empty::new()))
}

impl Shared {
    fn note(&self, endpoint: u32, body: &[u8]) {
        let kept = self.ledger.read().unwrap_or_else(PoisonError::into_inner);
        let Some(ledger) = &*kept else { return };
        let Some(message) = ledger.read(body) else {
            return;
        };
        let lost = |left: u32| left.checked_sub(1);
        if self.lose.fetch_update(Relaxed, Relaxed, lost).is_err() {
            ledger.arrive(endpoint, message);
        }
    }
}

/// The endpoint that a path is of: its last part, where that is a number.
fn endpoint(path: &str) -> u32 {
    let last = path.rsplit('/').next();
    last.and_then(|last| last.parse().ok()).unwrap_or(0)
}
