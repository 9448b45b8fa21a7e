//! Where calls wait to be written together: while one group is on its way to the disk, the next gathers.
//!
//! Each owner has a line of its own and they take turns, so that one who sends a hundred thousand at once makes
//! nobody else wait for all of them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::store::{Error, Result};
use crate::telemetry::metrics::metrics;

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
    /// Calls that wait before a second writer helps: until then one writer with large groups does it with less work.
    pub(super) crowd: usize,
}

/// Calls that wait.
pub(super) struct Line<C> {
    limits: Limits,
    waiting: Mutex<Waiting<C>>,
    arrived: Notify,
    crowded: Notify,
}

struct Waiting<C> {
    by_owner: HashMap<String, VecDeque<(usize, C)>>,
    turns: VecDeque<String>,
    calls: usize,
    bytes: usize,
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
            }),
            arrived: Notify::new(),
            crowded: Notify::new(),
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
        waiting.calls += 1;
        waiting.bytes += bytes;
        if let Some(line) = waiting.by_owner.get_mut(owner) {
            line.push_back((bytes, call));
        } else {
            let line = VecDeque::from([(bytes, call)]);
            waiting.by_owner.insert(owner.to_owned(), line);
            waiting.turns.push_back(owner.to_owned());
        }
        let crowded = waiting.calls >= self.limits.crowd;
        drop(waiting);
        self.arrived.notify_one();
        if crowded {
            self.crowded.notify_one();
        }
        Ok(())
    }

    /// Waits for calls, and takes those of one group. A helper waits until many wait.
    pub(super) async fn next(&self, helps: bool) -> Vec<C> {
        loop {
            if !helps || self.waiting().calls >= self.limits.crowd {
                let group = self.take();
                if !group.is_empty() {
                    return group;
                }
            }
            if helps {
                self.crowded.notified().await;
            } else {
                self.arrived.notified().await;
            }
        }
    }

    fn take(&self) -> Vec<C> {
        let mut waiting = self.waiting();
        let (mut group, mut bytes) = (Vec::new(), 0);
        while group.len() < self.limits.group_calls && bytes < self.limits.group_bytes {
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
                group.push(call);
            }
        }
        group
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting<C>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        calls: 6,
        bytes: 100,
        group_calls: 3,
        group_bytes: 50,
        crowd: 4,
    };

    #[tokio::test]
    async fn owners_take_turns() {
        let line = Line::new(LIMITS);
        for call in ["a1", "a2", "a3", "a4"] {
            line.push("a", 1, call).unwrap();
        }
        line.push("b", 1, "b1").unwrap();
        assert_eq!(line.next(false).await, ["a1", "b1", "a2"]);
        assert_eq!(line.next(false).await, ["a3", "a4"]);
    }

    #[tokio::test]
    async fn a_second_writer_helps_only_when_many_wait() {
        let line = Line::new(LIMITS);
        for call in 0..3 {
            line.push("a", 1, call).unwrap();
        }
        let mut helper = Box::pin(line.next(true));
        assert!(futures_util::poll!(helper.as_mut()).is_pending());
        line.push("a", 1, 3).unwrap();
        assert_eq!(helper.await, [0, 1, 2]);
        assert_eq!(line.next(false).await, [3]);
    }

    #[tokio::test]
    async fn what_waits_is_bounded_in_number_and_bytes() {
        let line = Line::new(LIMITS);
        line.push("a", 99, 1).unwrap();
        assert!(line.push("a", 2, 2).is_err());
        for call in 0..5 {
            line.push("b", 0, call).unwrap();
        }
        assert!(line.push("c", 0, 9).is_err());
        // A group ends when it is large enough, and one call always fits.
        assert_eq!(line.next(false).await, [1]);
        assert!(line.push("a", 101, 1).is_err());
    }
}
