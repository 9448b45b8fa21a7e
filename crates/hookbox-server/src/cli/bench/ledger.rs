//! What was sent, what was accepted, and what arrived: one entry for each, found without a lock.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Digits of a message's number in its mark.
const DIGITS: usize = 10;

/// The account of one run.
#[derive(Debug)]
pub(super) struct Ledger {
    /// Tells the messages of this run from those of any other.
    tag: String,
    start: Instant,
    messages: Vec<Message>,
    /// Those of the first endpoint, then those of the second, …
    arrivals: Vec<Arrival>,
    answered: AtomicU64,
    arrived: AtomicU64,
}

#[derive(Debug, Default)]
struct Message {
    /// When it was first sent, in microseconds since the start and one more; 0 when it was not.
    begun: AtomicU64,
    accepted: AtomicBool,
}

#[derive(Debug, Default)]
struct Arrival {
    count: AtomicU32,
    /// When it first arrived, counted like the beginning.
    first: AtomicU64,
}

/// The sums.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Tally {
    /// Messages that the server took.
    pub(super) accepted: u64,
    /// Arrivals of those, each counted once for each endpoint.
    pub(super) arrived: u64,
    /// Arrivals that are owed.
    pub(super) missing: u64,
    /// Arrivals beyond the first.
    pub(super) repeated: u64,
    /// From the first sending to the first arrival, in microseconds.
    pub(super) latencies: Vec<u64>,
    /// From the first sending of all to the last first arrival of all.
    pub(super) span: Duration,
}

impl Ledger {
    pub(super) fn new(messages: u32, endpoints: u32) -> Self {
        let messages = index(messages);
        Self {
            tag: hex::encode(rand::random::<[u8; 8]>()),
            start: Instant::now(),
            messages: empty(messages),
            arrivals: empty(messages * index(endpoints)),
            answered: AtomicU64::new(0),
            arrived: AtomicU64::new(0),
        }
    }

    /// What stands in a message and tells which it is.
    pub(super) fn mark(&self, message: u32) -> String {
        format!("{}_{message:0DIGITS$}", self.tag)
    }

    /// The message that has its mark in this body.
    pub(super) fn read(&self, body: &[u8]) -> Option<u32> {
        let tag = self.tag.as_bytes();
        let at = body.windows(tag.len()).position(|window| window == tag)?;
        let digits = body[at + tag.len()..].strip_prefix(b"_")?.get(..DIGITS)?;
        str::from_utf8(digits).ok()?.parse().ok()
    }

    /// Notes that a message is sent now, unless it was before.
    pub(super) fn begin(&self, message: u32) {
        let begun = &self.messages[index(message)].begun;
        // Who loses the race sent it no earlier.
        let _ = begun.compare_exchange(0, self.now(), Relaxed, Relaxed);
    }

    /// Notes that a call was answered, and whether it was accepted.
    pub(super) fn answer(&self, message: u32, accepted: bool) {
        if accepted {
            self.messages[index(message)].accepted.store(true, Relaxed);
        }
        self.answered.fetch_add(1, Relaxed);
    }

    /// Notes that a message arrived at an endpoint now.
    pub(super) fn arrive(&self, endpoint: u32, message: u32) {
        let known = index(message) < self.messages.len();
        let place = index(endpoint) * self.messages.len() + index(message);
        let Some(arrival) = self.arrivals.get(place).filter(|_| known) else {
            return;
        };
        if arrival.count.fetch_add(1, Relaxed) == 0 {
            arrival.first.store(self.now(), Relaxed);
            self.arrived.fetch_add(1, Relaxed);
        }
    }

    /// Calls answered and messages arrived so far.
    pub(super) fn so_far(&self) -> (u64, u64) {
        (self.answered.load(Relaxed), self.arrived.load(Relaxed))
    }

    pub(super) fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        let (mut begun, mut ended) = (u64::MAX, 0);
        for message in &self.messages {
            tally.accepted += u64::from(message.accepted.load(Relaxed));
        }
        for (place, arrival) in self.arrivals.iter().enumerate() {
            let message = &self.messages[place % self.messages.len()];
            let count = arrival.count.load(Relaxed);
            tally.repeated += u64::from(count.saturating_sub(1));
            match (count, message.accepted.load(Relaxed)) {
                (_, false) => {}
                (0, true) => tally.missing += 1,
                (_, true) => {
                    let (sent, came) = (message.begun.load(Relaxed), arrival.first.load(Relaxed));
                    tally.arrived += 1;
                    tally.latencies.push(came.saturating_sub(sent));
                    (begun, ended) = (begun.min(sent), ended.max(came));
                }
            }
        }
        tally.span = Duration::from_micros(ended.saturating_sub(begun));
        tally
    }

    fn now(&self) -> u64 {
        micros(self.start.elapsed()) + 1
    }
}

/// Whole microseconds.
pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX - 1)
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn empty<T: Default>(count: usize) -> Vec<T> {
    std::iter::repeat_with(T::default).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ledger of messages that were all sent and accepted.
    fn accepted(messages: u32, endpoints: u32) -> Ledger {
        let ledger = Ledger::new(messages, endpoints);
        for message in 0..messages {
            ledger.begin(message);
            ledger.answer(message, true);
        }
        ledger
    }

    fn counts(ledger: &Ledger) -> [u64; 4] {
        let tally = ledger.tally();
        [tally.accepted, tally.arrived, tally.missing, tally.repeated]
    }

    #[test]
    fn every_endpoint_is_owed_every_accepted_message() {
        let ledger = accepted(2, 2);
        for (endpoint, message) in [(0, 0), (0, 1), (1, 0)] {
            ledger.arrive(endpoint, message);
        }
        assert_eq!(counts(&ledger), [2, 3, 1, 0]);
        ledger.arrive(1, 1);
        assert_eq!(counts(&ledger), [2, 4, 0, 0]);
        assert_eq!(ledger.tally().latencies.len(), 4);
    }

    #[test]
    fn a_repeat_makes_up_for_no_loss() {
        let ledger = accepted(3, 1);
        for message in [0, 0, 0, 1] {
            ledger.arrive(0, message);
        }
        assert_eq!(counts(&ledger), [3, 2, 1, 2]);
    }

    #[test]
    fn what_was_refused_is_not_owed() {
        let ledger = Ledger::new(2, 1);
        for message in 0..2 {
            ledger.begin(message);
            ledger.answer(message, message == 0);
        }
        assert_eq!(counts(&ledger), [1, 0, 1, 0]);
        // Recorded although its answer was lost: no promise was made.
        ledger.arrive(0, 1);
        assert_eq!(counts(&ledger), [1, 0, 1, 0]);
        assert_eq!(ledger.so_far(), (2, 1));
    }

    #[test]
    fn accepted_once_is_accepted() {
        let ledger = Ledger::new(1, 1);
        for accepted in [true, false] {
            ledger.begin(0);
            ledger.answer(0, accepted);
        }
        assert_eq!(counts(&ledger), [1, 0, 1, 0]);
    }

    #[test]
    fn marks_are_of_one_run() {
        let (one, other) = (Ledger::new(9, 1), Ledger::new(9, 1));
        let body = format!("{{\"id\":\"evt_{}\"}}", one.mark(7));
        assert_eq!(one.read(body.as_bytes()), Some(7));
        assert_eq!(other.read(body.as_bytes()), None);
        let mark = one.mark(7);
        assert_eq!(one.read(&mark.as_bytes()[..mark.len() - 1]), None);
        assert_eq!(one.read(b""), None);
    }

    #[test]
    fn what_nobody_sent_is_not_counted() {
        let ledger = accepted(1, 1);
        ledger.arrive(0, 5);
        ledger.arrive(3, 0);
        assert_eq!(counts(&ledger), [1, 0, 1, 0]);
    }
}
