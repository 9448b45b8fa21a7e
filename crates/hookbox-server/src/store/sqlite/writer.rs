//! The one writer: a thread that commits many calls at once.
//!
//! While a commit is on its way to the disk, calls gather; the next commit takes them all. A call that is
//! refused undoes itself alone: it has a savepoint, or makes all its checks before it writes anything. When the
//! database cannot write, all calls of the commit are told so at once, and the next ones try anew.

use std::thread::JoinHandle;
use std::time::Instant;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::doors::Doors;
use super::routes::Routes;
use crate::model::Time;
use crate::store::seal::Sealer;
use crate::store::{Error, Handoff, Result, Work};
use crate::telemetry::metrics::metrics;

/// Calls that wait for the writer; beyond this, callers are told to come back later.
const QUEUE: usize = 8192;
/// The disk did not keep what was written. The system may have forgotten it by now, so that trying again would
/// succeed and mean nothing: only reading the file anew tells what is there.
const DISK_FORGOT: [i32; 2] = [
    rusqlite::ffi::SQLITE_IOERR_FSYNC,
    rusqlite::ffi::SQLITE_IOERR_DIR_FSYNC,
];
/// Calls in one commit.
const GROUP: usize = 512;

/// What a call works with inside the transaction.
pub(super) struct Context<'a> {
    pub(super) db: &'a Connection,
    pub(super) sealer: &'a Sealer,
    pub(super) handoff: &'a Handoff,
    pub(super) routes: &'a mut Routes,
    /// Handed to the engine once this commit is durable.
    pub(super) work: Vec<Work>,
    /// When something becomes due that this commit scheduled.
    pub(super) due: Option<Time>,
    /// A source or a token was changed.
    pub(super) doors_changed: bool,
}

impl Context<'_> {
    /// Something was made due then.
    pub(super) fn due_at(&mut self, at: Time) {
        self.due = Some(self.due.map_or(at, |known| known.min(at)));
    }
}

/// A call in the queue.
trait Job: Send {
    /// Whether a refusal may come after it has written something.
    fn needs_savepoint(&self) -> bool;
    fn run(&mut self, context: &mut Context<'_>) -> Result<()>;
    fn answer(self: Box<Self>, committed: Result<()>);
}

struct Call<F, T> {
    savepoint: bool,
    work: Option<F>,
    result: Option<Result<T>>,
    caller: oneshot::Sender<Result<T>>,
}

impl<F, T> Job for Call<F, T>
where
    F: FnOnce(&mut Context<'_>) -> Result<T> + Send,
    T: Send,
{
    fn needs_savepoint(&self) -> bool {
        self.savepoint
    }

    fn run(&mut self, context: &mut Context<'_>) -> Result<()> {
        let Some(work) = self.work.take() else {
            return Ok(());
        };
        let result = work(context);
        let verdict = result.as_ref().map(|_| ()).map_err(Clone::clone);
        self.result = Some(result);
        verdict
    }

    fn answer(self: Box<Self>, committed: Result<()>) {
        let result = match (committed, self.result) {
            (Ok(()), Some(result)) => result,
            // A refusal is true whether or not the others were committed.
            (Err(_), Some(Err(refusal))) => Err(refusal),
            (Err(error), _) => Err(error),
            (Ok(()), None) => Err(Error::Unavailable("the call was not run".into())),
        };
        // A caller that went away does not need the answer; what was committed stays.
        let _ = self.caller.send(result);
    }
}

/// The writer's thread. Dropping it waits until what is queued is written and the database is closed.
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(
        db: Connection,
        sealer: Sealer,
        handoff: Handoff,
        doors: Doors,
    ) -> std::io::Result<Self> {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("sqlite-writer".into())
            .spawn(move || {
                Thread {
                    db,
                    sealer,
                    handoff,
                    doors,
                    routes: Routes::new(),
                }
                .run(jobs);
            })?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    /// Runs `work` in a transaction and returns once that is durable.
    pub(super) async fn call<T, F>(&self, work: F) -> Result<T>
    where
        F: FnOnce(&mut Context<'_>) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.queue(work, true).await
    }

    /// The same for work that refuses, if at all, before it writes. It spares the savepoint, for which `SQLite`
    /// copies every page that the work touches.
    pub(super) async fn call_checked<T, F>(&self, work: F) -> Result<T>
    where
        F: FnOnce(&mut Context<'_>) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.queue(work, false).await
    }

    async fn queue<T, F>(&self, work: F, savepoint: bool) -> Result<T>
    where
        F: FnOnce(&mut Context<'_>) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (caller, answer) = oneshot::channel();
        let queue = self
            .queue
            .as_ref()
            .ok_or_else(|| Error::Unavailable("the database is closed".into()))?;
        queue
            .try_send(Box::new(Call {
                savepoint,
                work: Some(work),
                result: None,
                caller,
            }))
            .inspect_err(|_| metrics().store_errors.count(["write"]))
            .map_err(|_| Error::Unavailable("too many calls wait for the database".into()))?;
        answer
            .await
            .map_err(|_| Error::Unavailable("the database writer stopped".into()))?
    }
}

/// Ends the process when the writer panics: without it nothing can be recorded, and a supervisor can start anew.
struct LastWord;

impl Drop for LastWord {
    fn drop(&mut self) {
        if std::thread::panicking() {
            tracing::error!("the database writer panicked; the process ends");
            std::process::abort();
        }
    }
}

struct Thread {
    db: Connection,
    sealer: Sealer,
    handoff: Handoff,
    doors: Doors,
    routes: Routes,
}

impl Thread {
    fn run(mut self, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
        let _last_word = LastWord;
        while let Some(first) = jobs.blocking_recv() {
            let mut group = vec![first];
            while group.len() < GROUP {
                let Ok(next) = jobs.try_recv() else { break };
                group.push(next);
            }
            self.commit(group);
        }
    }

    fn commit(&mut self, mut group: Vec<Box<dyn Job>>) {
        let began = Instant::now();
        let committed = self.transaction(&mut group);
        metrics().committed(committed.is_ok(), group.len(), began);
        if let Err(error) = &committed {
            if !self.db.is_autocommit() {
                let _ = self.db.execute_batch("ROLLBACK");
            }
            // What was read inside the failed transaction may never have been.
            self.routes.forget();
            tracing::error!(%error, calls = group.len(), "nothing was written");
        }
        if let Ok(Effects {
            doors_changed: true,
            ..
        }) = &committed
            && let Err(error) = self.doors.renew(&self.db, &self.sealer)
        {
            tracing::error!(%error, "sources and tokens in memory are older than the database; restart");
        }
        let answer = committed.as_ref().map(|_| ()).map_err(Clone::clone);
        if let Ok(effects) = committed {
            for work in effects.work {
                self.handoff.hand_over(work);
            }
            if let Some(due) = effects.due {
                self.handoff.due_at(due);
            }
        }
        for job in group {
            job.answer(answer.clone());
        }
    }

    fn transaction(&mut self, group: &mut [Box<dyn Job>]) -> Result<Effects> {
        run(&self.db, "BEGIN IMMEDIATE")?;
        let mut context = Context {
            db: &self.db,
            sealer: &self.sealer,
            handoff: &self.handoff,
            routes: &mut self.routes,
            work: Vec::new(),
            due: None,
            doors_changed: false,
        };
        for job in group {
            perform(&mut context, job.as_mut())?;
        }
        let effects = Effects {
            work: context.work,
            due: context.due,
            doors_changed: context.doors_changed,
        };
        run(&self.db, "COMMIT")?;
        Ok(effects)
    }
}

/// Runs one call. An error of this function is the end of the whole transaction.
fn perform(context: &mut Context<'_>, job: &mut dyn Job) -> Result<()> {
    let savepoint = job.needs_savepoint();
    let (held, written) = (context.work.len(), context.db.total_changes());
    if savepoint {
        run(context.db, "SAVEPOINT call")?;
    }
    match job.run(context) {
        Ok(()) => {}
        Err(broken @ Error::Unavailable(_)) => return Err(broken),
        Err(_refusal) => {
            context.work.truncate(held);
            if savepoint {
                context.routes.forget();
                run(context.db, "ROLLBACK TO call")?;
            } else if context.db.total_changes() != written {
                return Err(Error::Unavailable(
                    "a call was refused after it had written".into(),
                ));
            }
        }
    }
    if savepoint {
        run(context.db, "RELEASE call")
    } else {
        Ok(())
    }
}

/// What follows a commit.
struct Effects {
    work: Vec<Work>,
    due: Option<Time>,
    doors_changed: bool,
}

fn run(db: &Connection, sql: &str) -> Result<()> {
    let done = db
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute([]));
    if let Err(rusqlite::Error::SqliteFailure(code, _)) = &done
        && DISK_FORGOT.contains(&code.extended_code)
    {
        tracing::error!(
            "the disk failed to keep what it was given; the process ends, so that nothing is taken for kept"
        );
        std::process::abort();
    }
    done?;
    Ok(())
}

impl From<rusqlite::Error> for Error {
    /// What the database says of itself makes everything unavailable; all else is a row that cannot be read.
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(code, text) => {
                Self::Unavailable(text.unwrap_or_else(|| code.to_string()))
            }
            other => Self::Unreadable(other.to_string()),
        }
    }
}
