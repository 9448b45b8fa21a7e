//! Keeps so many calls in flight until all are answered.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::calls::Calls;
use super::ledger::{Ledger, micros};
use super::target::Target;
use super::wire::{Outcome, Wire};

/// What is to be sent, and how fast.
#[derive(Debug)]
pub(super) struct Course {
    /// The messages, in the order in which they are sent.
    pub(super) order: Vec<u32>,
    /// Calls in flight at once, each on a connection of its own.
    pub(super) connections: u16,
    /// Calls begun in a second; as many as there can be when not given.
    pub(super) rate: Option<u32>,
}

/// How it went.
#[derive(Debug, Default)]
pub(super) struct Driven {
    /// How long each call took, in microseconds.
    pub(super) took: Vec<u64>,
    /// Calls that were accepted.
    pub(super) accepted: u64,
    /// Those that were not: how many, by their outcome.
    pub(super) errors: BTreeMap<Outcome, u64>,
    /// From the first call to the last answer.
    pub(super) time: Duration,
    /// How late a call was begun at most, for want of a free connection.
    pub(super) behind: Duration,
}

/// Makes all the calls of a course.
pub(super) async fn drive(
    target: &Target,
    course: Course,
    calls: Arc<dyn Calls>,
    ledger: &Arc<Ledger>,
) -> Driven {
    let begun = Instant::now();
    let shared = Arc::new(Shared {
        next: AtomicUsize::new(0),
        behind: AtomicU64::new(0),
        begun,
        calls,
        ledger: Arc::clone(ledger),
        course,
    });
    let mut workers = JoinSet::new();
    for _ in 0..shared.course.connections {
        workers.spawn(work(Arc::clone(&shared), Wire::new(&target.addresses)));
    }
    let mut all = Driven::default();
    while let Some(worker) = workers.join_next().await {
        // A worker that panicked took its numbers along; its calls are then seen to be missing.
        let one = worker.unwrap_or_default();
        all.took.extend(one.took);
        all.accepted += one.accepted;
        for (outcome, count) in one.errors {
            *all.errors.entry(outcome).or_default() += count;
        }
    }
    all.time = begun.elapsed();
    all.behind = Duration::from_micros(shared.behind.load(Relaxed));
    all
}

struct Shared {
    next: AtomicUsize,
    behind: AtomicU64,
    begun: Instant,
    calls: Arc<dyn Calls>,
    ledger: Arc<Ledger>,
    course: Course,
}

async fn work(shared: Arc<Shared>, mut wire: Wire) -> Driven {
    let mut driven = Driven::default();
    loop {
        let turn = shared.next.fetch_add(1, Relaxed);
        let Some(&message) = shared.course.order.get(turn) else {
            return driven;
        };
        if let Some(rate) = shared.course.rate {
            shared.wait_for(turn, rate).await;
        }
        let request = shared.calls.call(&shared.ledger.mark(message));
        shared.ledger.begin(message);
        let at = Instant::now();
        let outcome = wire.call(request).await;
        driven.took.push(micros(at.elapsed()));
        let accepted = matches!(outcome, Ok(200..=299));
        shared.ledger.answer(message, accepted);
        if accepted {
            driven.accepted += 1;
        } else {
            *driven.errors.entry(outcome).or_default() += 1;
        }
    }
}

impl Shared {
    /// Waits until it is the turn of that call. The clock is one that nobody sets.
    async fn wait_for(&self, turn: usize, rate: u32) {
        let turn = u32::try_from(turn).unwrap_or(u32::MAX);
        let due = self.begun + Duration::from_secs_f64(f64::from(turn) / f64::from(rate));
        self.behind.fetch_max(micros(due.elapsed()), Relaxed);
        tokio::time::sleep_until(due.into()).await;
    }
}
