//! Where calls wait to be written together: while one group is on its way to the disk, the next gathers.
//!
//! Each owner has a line of its own and they take turns, so that one who sends a hundred thousand at once makes
//! nobody else wait for all of them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::store::{Error, Result};
use crate::telemetry::metrics::metrics;

/// How long calls wait for more of their kind while another writer is under way. It may be stuck behind somebody's
/// lock that is not in the way of these.
const LONGEST: Duration = Duration::from_millis(50);

/// How much may wait, and how much goes into one group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Calls that wait.
    pub(super) calls: usize,
    /// Bytes that wait.
    pub(super) bytes: usize,
    /// Calls of a group.
    pub(super) group_calls: usize,
    /// Bytes of a group; one call always fits.
    pub(super) group_bytes: usize,
    /// Writers that share what there is: none takes more than its part, so that one writes while the calls of the
    /// other are on their way from and to their callers.
    pub(super) writers: usize,
    /// Calls that make a group worth its transaction while another is under way.
    pub(super) crowd: usize,
}

/// Calls that wait.
pub(super) struct Line<C> {
    limits: Limits,
    waiting: Mutex<Waiting<C>>,
    arrived: Notify,
}

struct Waiting<C> {
    by_owner: HashMap<String, VecDeque<(usize, C)>>,
    turns: VecDeque<String>,
    calls: usize,
    bytes: usize,
    /// When the line was last empty, or a group was taken.
    since: Instant,
    /// Calls that writers have taken and not done with.
    under_way: usize,
}

impl<C> Waiting<C> {
    fn is_due(&self, limits: &Limits) -> bool {
        let alone = self.under_way == 0 || self.calls >= limits.crowd;
        self.calls > 0 && (alone || self.since.elapsed() >= LONGEST)
    }
}

/// Calls to be written together. They count as under way until this is dropped.
pub(super) struct Group<'a, C> {
    pub(super) calls: Vec<C>,
    taken: usize,
    line: &'a Line<C>,
}

impl<C> Drop for Group<'_, C> {
    fn drop(&mut self) {
        self.line.waiting().under_way -= self.taken;
    }
}

impl<C> Line<C> {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            waiting: Mutex::new(Waiting {
                by_owner: HashMap::new(),
                turns: VecDeque::new(),
                calls: 0,
                bytes: 0,
                since: Instant::now(),
                under_way: 0,
            }),
            arrived: Notify::new(),
        }
    }

    /// Lines up, unless too much waits already.
    pub(super) fn push(&self, owner: &str, bytes: usize, call: C) -> Result<()> {
        let mut waiting = self.waiting();
        let full = waiting.calls >= self.limits.calls
            || (waiting.calls > 0 && waiting.bytes + bytes > self.limits.bytes);
        if full {
            metrics().store_errors.count(["write"]);
            return Err(Error::Unavailable(
                "too many calls wait for the database".into(),
            ));
        }
        let first = waiting.calls == 0;
        if first {
            waiting.since = Instant::now();
        }
        waiting.calls += 1;
        waiting.bytes += bytes;
        if let Some(line) = waiting.by_owner.get_mut(owner) {
            line.push_back((bytes, call));
        } else {
            let line = VecDeque::from([(bytes, call)]);
            waiting.by_owner.insert(owner.to_owned(), line);
            waiting.turns.push_back(owner.to_owned());
        }
        let wakes = first || waiting.is_due(&self.limits);
        drop(waiting);
        if wakes {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Waits for calls, and takes those of one group.
    pub(super) async fn next(&self) -> Group<'_, C> {
        loop {
            let until = {
                let mut waiting = self.waiting();
                if waiting.is_due(&self.limits) {
                    return self.take(&mut waiting);
                }
                (waiting.calls > 0).then(|| waiting.since + LONGEST)
            };
            match until {
                Some(until) => {
                    let _ = timeout_at(until, self.arrived.notified()).await;
                }
                None => self.arrived.notified().await,
            }
        }
    }

    fn take(&self, waiting: &mut Waiting<C>) -> Group<'_, C> {
        let part = (waiting.calls + waiting.under_way).div_ceil(self.limits.writers);
        let most = part.max(self.limits.crowd).min(self.limits.group_calls);
        let (mut calls, mut bytes) = (Vec::new(), 0);
        while calls.len() < most && bytes < self.limits.group_bytes {
            let Some(owner) = waiting.turns.pop_front() else {
                break;
            };
            let Some(line) = waiting.by_owner.get_mut(&owner) else {
                continue;
            };
            let next = line.pop_front();
            if line.is_empty() {
                waiting.by_owner.remove(&owner);
            } else {
                waiting.turns.push_back(owner);
            }
            if let Some((size, call)) = next {
                waiting.calls -= 1;
                waiting.bytes -= size;
                bytes += size;
                calls.push(call);
            }
        }
        waiting.since = Instant::now();
        waiting.under_way += calls.len();
        if waiting.calls > 0 {
            // For the next writer.
            self.arrived.notify_one();
        }
        Group {
            taken: calls.len(),
            calls,
            line: self,
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting<C>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        calls: 12,
        bytes: 100,
        group_calls: 3,
        group_bytes: 50,
        writers: 1,
        crowd: 4,
    };

    const TWO: Limits = Limits {
        group_calls: 100,
        writers: 2,
        crowd: 2,
        ..LIMITS
    };

    #[tokio::test]
    async fn owners_take_turns() {
        let line = Line::new(LIMITS);
        for call in ["a1", "a2", "a3", "a4"] {
            line.push("a", 1, call).unwrap();
        }
        line.push("b", 1, "b1").unwrap();
        assert_eq!(line.next().await.calls, ["a1", "b1", "a2"]);
        assert_eq!(line.next().await.calls, ["a3", "a4"]);
    }

    #[tokio::test]
    async fn two_writers_share_what_there_is() {
        let line = Line::new(TWO);
        for call in 0..6 {
            line.push("a", 1, call).unwrap();
        }
        let first = line.next().await;
        assert_eq!(first.calls, [0, 1, 2]);
        let second = line.next().await;
        assert_eq!(second.calls, [3, 4, 5]);
        // Six are under way and six more wait: half of them is the part of one.
        for call in 6..12 {
            line.push("a", 1, call).unwrap();
        }
        drop(first);
        assert_eq!(line.next().await.calls, [6, 7, 8, 9, 10]);
    }

    #[tokio::test(start_paused = true)]
    async fn few_calls_wait_for_the_other_writer_but_not_for_ever() {
        let line = Line::new(TWO);
        line.push("a", 1, 0).unwrap();
        let stuck = line.next().await;
        line.push("a", 1, 1).unwrap();
        let began = Instant::now();
        assert!(futures_util::poll!(Box::pin(line.next())).is_pending());
        assert_eq!(line.next().await.calls, [1]);
        assert!(began.elapsed() >= LONGEST);
        line.push("a", 1, 2).unwrap();
        drop(stuck);
        assert_eq!(line.next().await.calls, [2]);
    }

    #[tokio::test]
    async fn what_waits_is_bounded_in_number_and_bytes() {
        let line = Line::new(LIMITS);
        line.push("a", 99, 1).unwrap();
        assert!(line.push("a", 2, 2).is_err());
        for call in 0..11 {
            line.push("b", 0, call).unwrap();
        }
        assert!(line.push("c", 0, 9).is_err());
        // A group ends when it is large enough, and one call always fits.
        assert_eq!(line.next().await.calls, [1]);
        assert!(line.push("a", 101, 1).is_err());
    }
}
