//! Readers: threads with a connection each, which never wait for the writer.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::store::{Error, Result};
use crate::telemetry::metrics::metrics;

/// Reads that wait; beyond this, callers are told to come back later.
const QUEUE: usize = 1024;

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// The readers' threads. Dropping them waits until their connections are closed.
pub(super) struct Readers {
    queue: Option<SyncSender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Readers {
    /// Starts a thread for each connection.
    pub(super) fn start(connections: Vec<Connection>) -> std::io::Result<Self> {
        let (queue, jobs) = sync_channel::<Job>(QUEUE);
        let jobs = Arc::new(Mutex::new(jobs));
        let start = |db: Connection| {
            let jobs = Arc::clone(&jobs);
            std::thread::Builder::new()
                .name("sqlite-reader".into())
                .spawn(move || {
                    while let Some(job) = next(&jobs) {
                        job(&db);
                    }
                })
        };
        let threads = connections
            .into_iter()
            .map(start)
            .collect::<std::io::Result<_>>()?;
        Ok(Self {
            queue: Some(queue),
            threads,
        })
    }

    /// Runs `read` on a committed state of the database.
    pub(super) async fn call<T, F>(&self, read: F) -> Result<T>
    where
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (caller, answer) = oneshot::channel();
        let job: Job = Box::new(move |db| {
            let _ = caller.send(read(db));
        });
        let queue = self
            .queue
            .as_ref()
            .ok_or_else(|| Error::Unavailable("the database is closed".into()))?;
        queue
            .try_send(job)
            .inspect_err(|_| metrics().store_errors.count(["read"]))
            .map_err(|_| Error::Unavailable("too many reads wait for the database".into()))?;
        answer
            .await
            .map_err(|_| Error::Unavailable("the database readers stopped".into()))?
    }
}

fn next(jobs: &Mutex<Receiver<Job>>) -> Option<Job> {
    jobs.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .recv()
        .ok()
}
