//! Readers: threads with a connection each, which never wait for the writer.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::store::{Error, Result};

/// Reads that wait; beyond this, callers are told to come back later.
const QUEUE: usize = 1024;

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// A handle to the readers' threads, which end when every handle is gone.
#[derive(Clone)]
pub(super) struct Readers {
    queue: SyncSender<Job>,
}

impl Readers {
    /// Starts a thread for each connection.
    pub(super) fn start(connections: Vec<Connection>) -> std::io::Result<Self> {
        let (queue, jobs) = sync_channel::<Job>(QUEUE);
        let jobs = Arc::new(Mutex::new(jobs));
        for db in connections {
            let jobs = Arc::clone(&jobs);
            std::thread::Builder::new()
                .name("sqlite-reader".into())
                .spawn(move || {
                    while let Some(job) = next(&jobs) {
                        job(&db);
                    }
                })?;
        }
        Ok(Self { queue })
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
        self.queue
            .try_send(job)
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
