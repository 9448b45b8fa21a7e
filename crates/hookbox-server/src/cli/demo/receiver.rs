//! A receiver of the story: answers as told, and remembers what it got.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::listen;
use crate::model::{Clock, Time};

/// A request that came.
#[derive(Clone, Debug)]
pub(super) struct Got {
    pub(super) at: Time,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) answered: u16,
}

/// A receiver on this machine.
#[derive(Debug)]
pub(super) struct Receiver {
    pub(super) address: SocketAddr,
    pub(super) url: String,
    memory: Arc<Memory>,
}

#[derive(Debug)]
struct Memory {
    script: Vec<u16>,
    got: Mutex<Vec<Got>>,
    came: Notify,
}

impl Receiver {
    /// Answers with these statuses, one after the other, then with 200.
    pub(super) async fn start(script: &[u16]) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let memory = Arc::new(Memory {
            script: script.to_vec(),
            got: Mutex::default(),
            came: Notify::new(),
        });
        let app = Router::new()
            .route("/webhooks", post(receive))
            .with_state(Arc::clone(&memory));
        tokio::spawn(listen::serve(
            listener,
            app,
            CancellationToken::new(),
            Duration::ZERO,
        ));
        Ok(Self {
            address,
            url: format!("http://{address}/webhooks"),
            memory,
        })
    }

    /// What came so far.
    pub(super) fn got(&self) -> Vec<Got> {
        self.memory
            .got
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Waits for so many requests, for at most `patience`; returns what came.
    pub(super) async fn wait_for(&self, count: usize, patience: Duration) -> Vec<Got> {
        let enough = async {
            while self.got().len() < count {
                self.memory.came.notified().await;
            }
        };
        let _ = tokio::time::timeout(patience, enough).await;
        self.got()
    }
}

async fn receive(State(memory): State<Arc<Memory>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let mut got = memory.got.lock().unwrap_or_else(PoisonError::into_inner);
    let answered = memory.script.get(got.len()).copied().unwrap_or(200);
    got.push(Got {
        at: Clock.now(),
        headers,
        body,
        answered,
    });
    memory.came.notify_one();
    StatusCode::from_u16(answered).unwrap_or(StatusCode::OK)
}
