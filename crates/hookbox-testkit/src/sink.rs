//! A receiver on loopback that records what arrives, byte for byte, and answers as it is told.

use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use crate::clock::{PATIENCE, pause};

/// A request that arrived whole.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Its method.
    pub method: String,
    /// Its path and query.
    pub path: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its exact bytes.
    pub body: Bytes,
}

impl Arrival {
    /// The value of a header.
    ///
    /// # Panics
    /// When it is not there, or not text.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).and_then(|value| value.to_str().ok());
        match value {
            Some(value) => value,
            None => panic!("no header {name}: {:?}", self.headers),
        }
    }
}

/// What a request is answered.
#[derive(Clone, Debug)]
pub struct Answer {
    status: u16,
    delay: Duration,
    headers: Vec<(String, String)>,
    held: bool,
}

impl From<u16> for Answer {
    fn from(status: u16) -> Self {
        Self {
            status,
            delay: Duration::ZERO,
            headers: Vec::new(),
            held: false,
        }
    }
}

impl Answer {
    /// Given only after a while.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// With a header.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Given only after [`Sink::release`].
    #[must_use]
    pub fn held(mut self) -> Self {
        self.held = true;
        self
    }
}

#[derive(Debug)]
struct Shared {
    arrivals: Mutex<Vec<Arrival>>,
    count: watch::Sender<usize>,
    script: Mutex<VecDeque<Answer>>,
    otherwise: Mutex<Answer>,
    gate: Semaphore,
}

/// The receiver. It stops when dropped.
pub struct Sink {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Sink {
    /// Starts a receiver that answers 200.
    ///
    /// # Panics
    /// When there is no port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener
            .local_addr()
            .expect("a bound listener has an address");
        let shared = Arc::new(Shared {
            arrivals: Mutex::default(),
            count: watch::channel(0).0,
            script: Mutex::default(),
            otherwise: Mutex::new(200.into()),
            gate: Semaphore::new(0),
        });
        let task = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Self {
            address,
            shared,
            task,
        }
    }

    /// Its address, with a path.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The answers to the next requests, in the order of their arrival.
    pub fn script(&self, answers: impl IntoIterator<Item = impl Into<Answer>>) {
        locked(&self.shared.script).extend(answers.into_iter().map(Into::into));
    }

    /// The answer to every request beyond the script.
    pub fn otherwise(&self, answer: impl Into<Answer>) {
        *locked(&self.shared.otherwise) = answer.into();
    }

    /// Lets every held answer go, those of requests still to come too.
    pub fn release(&self) {
        self.shared.gate.add_permits(Semaphore::MAX_PERMITS / 2);
    }

    /// Everything that arrived so far, in order.
    #[must_use]
    pub fn arrivals(&self) -> Vec<Arrival> {
        locked(&self.shared.arrivals).clone()
    }

    /// What arrived from the n-th on, counted from zero.
    #[must_use]
    pub fn arrivals_from(&self, first: usize) -> Vec<Arrival> {
        locked(&self.shared.arrivals)[first..].to_vec()
    }

    /// How many arrived so far.
    #[must_use]
    pub fn count(&self) -> usize {
        *self.shared.count.borrow()
    }

    /// Everything that arrived, once it is that many.
    ///
    /// # Panics
    /// When fewer arrive within [`PATIENCE`].
    pub async fn wait_for(&self, count: usize) -> Vec<Arrival> {
        let mut seen = self.shared.count.subscribe();
        let enough = seen.wait_for(|seen| *seen >= count);
        if tokio::time::timeout(PATIENCE, enough).await.is_err() {
            let arrived = self.arrivals();
            panic!("{} of {count} arrived: {arrived:#?}", arrived.len());
        }
        self.arrivals()
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let service = service_fn(move |request| receive(Arc::clone(&shared), request));
            // A sender that goes away is its own affair.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn receive(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let answer = {
        let mut arrivals = locked(&shared.arrivals);
        arrivals.push(Arrival {
            method: parts.method.to_string(),
            path: parts.uri.to_string(),
            headers: parts.headers,
            body,
        });
        shared.count.send_replace(arrivals.len());
        locked(&shared.script).pop_front()
    };
    let answer = answer.unwrap_or_else(|| locked(&shared.otherwise).clone());
    if answer.held {
        // The gate is never closed, so there is a permit some time.
        drop(shared.gate.acquire().await);
    }
    if !answer.delay.is_zero() {
        pause(answer.delay).await;
    }
    let mut response = Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        response = response.header(name, value);
    }
    Ok(response
        .body(Full::default())
        .expect("a test's answer is valid"))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
