//! The metrics: each declared here, once, with its name, its labels and what it means.
//!
//! Every label has few values, and all of them are texts of the program: no name, address or id that somebody
//! chose can become one. Counting allocates nothing.

mod declare;
mod form;
mod process;

use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Instant;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::Histogram;

use self::declare::Declaring;
pub use self::declare::{Counters, Gauge, Gauges};
pub use self::form::Form;

/// What came from a source that does not exist.
pub const NO_SOURCE: &str = "unknown";
/// What came over the API.
pub const API: &str = "api";

/// Answers to a request: most take a commit, a few milliseconds.
const ANSWERS: [f64; 14] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
];
/// Waiting: from at once to a day of an endpoint that was switched off.
const WAITS: [f64; 13] = [
    0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 1800.0, 3600.0, 21_600.0, 86_400.0,
];
/// Commits: a fast disk begins below a millisecond.
const COMMITS: [f64; 12] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0,
];
/// Calls that share a commit.
const BATCHES: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

/// How an attempt can end: what it came to, and the class of the answer's status.
const ENDS: [[&str; 2]; 11] = [
    ["delivered", "2xx"],
    ["rejected", "3xx"],
    ["rejected", "4xx"],
    ["rejected", "5xx"],
    ["target_not_allowed", "none"],
    ["unsendable", "none"],
    ["name_not_resolved", "none"],
    ["could_not_connect", "none"],
    ["tls_failed", "none"],
    ["timeout", "none"],
    ["connection_broken", "none"],
];

static METRICS: LazyLock<Metrics> = LazyLock::new(Metrics::declare);

/// The metrics of this process.
#[must_use]
pub fn metrics() -> &'static Metrics {
    &METRICS
}

/// Everything that is counted and measured.
#[derive(Debug)]
pub struct Metrics {
    /// What came in; by source type and result.
    pub received: Counters<2>,
    /// How long the answer to a provider took, in seconds.
    pub receive_duration: Histogram,
    /// Requests that did not prove to be the provider's; by reason.
    pub signature_failures: Counters<1>,
    /// What was recorded before.
    pub duplicates: Counter,
    /// Deliveries; by state.
    pub queue_depth: Gauges<1>,
    /// How long the oldest delivery of a state is overdue, in seconds; by state.
    pub queue_oldest_age: Gauges<1>,
    /// From arrival to the first try, in seconds.
    pub queue_latency: Histogram,
    /// Dead letters that are kept.
    pub dead_letters: Gauges<0>,
    /// Tries; by outcome and class of status.
    pub delivery_attempts: Counters<2>,
    /// How long a try took, in seconds.
    pub delivery_duration: Histogram,
    /// Deliveries whose last try failed.
    pub delivery_exhausted: Counter,
    /// Tries that were not made because the address is not allowed.
    pub ssrf_blocked: Counter,
    /// How long a commit took, in seconds.
    pub store_commit: Histogram,
    /// Calls in a commit.
    pub store_batch_size: Histogram,
    /// What the database did not do.
    pub store_errors: Counters<1>,
    /// Deliveries that this node holds.
    pub node_slots: Gauge,
    /// Bytes of their payloads.
    pub node_bytes: Gauge,
    declared: Declaring,
    /// One picture at a time: figures are set, then written out.
    picture: Mutex<()>,
}

impl Metrics {
    #[expect(clippy::too_many_lines, reason = "a table of all metrics")]
    fn declare() -> Self {
        let mut new = Declaring::default();
        let received = new.counters(
            "received",
            ["source_type", "result"],
            "What came in: `source_type` is the provider, `api` for sound messages of the API, `unknown` for sources \
             that do not exist; `result` is `recorded`, `duplicate`, `quarantined` (other bytes under a known event id), \
             `refused`, or `failed` (answered 5xx)",
        );
        let receive_duration = new.histogram(
            "receive_duration_seconds",
            "From the head of a provider's request to its answer, whatever that was",
            &ANSWERS,
        );
        let signature_failures = new.counters(
            "signature_failures",
            ["reason"],
            "Requests that did not prove to be the provider's, by the code of the refusal",
        );
        let duplicates = new.counter(
            "duplicates",
            "Events that their source had seen before, and messages that came again under an idempotency key",
        );
        let queue_depth = new.gauges(
            "queue_depth",
            ["state"],
            "Deliveries that are not settled: `due`, `scheduled` (a later try), `leased` (a node has it), `held` (the \
             endpoint is disabled). Usually up to 10 s old; absent when the database does not tell",
        );
        let queue_oldest_age = new.gauges(
            "queue_oldest_age_seconds",
            ["state"],
            "How long the oldest delivery waits: `due` since its time, `leased` since its lease ended, `held` since \
             its message came; 0 when none does. The one to alert on and to scale by",
        );
        let queue_latency = new.histogram(
            "queue_latency_seconds",
            "From a message's arrival to the beginning of the first try of its delivery",
            &WAITS,
        );
        let dead_letters = new.gauges(
            "dead_letters",
            [],
            "Deliveries that were given up and neither replayed nor discarded since",
        );
        let delivery_attempts = new.counters(
            "delivery_attempts",
            ["outcome", "status_class"],
            "Tries: `delivered`, `rejected` (answered, but not 2xx), or why there was no answer; `status_class` is \
             `2xx` to `5xx`, or `none`",
        );
        let delivery_duration = new.histogram(
            "delivery_duration_seconds",
            "How long a try took, from resolving the name to the end of the answer",
            &ANSWERS,
        );
        let delivery_exhausted = new.counter(
            "delivery_exhausted",
            "Deliveries that became dead letters because every try of their schedule failed",
        );
        let ssrf_blocked = new.counter(
            "ssrf_blocked",
            "Tries that were not made because the endpoint's address is not one that strangers may reach",
        );
        let store_commit = new.histogram(
            "store_commit_seconds",
            "How long a transaction that writes took, until it was durable",
            &COMMITS,
        );
        let store_batch_size = new.histogram(
            "store_batch_size",
            "Calls that were committed together",
            &BATCHES,
        );
        let store_errors = new.counters(
            "store_errors",
            ["operation"],
            "What the database did not do: `commit`, a transaction that failed; `write` and `read`, a call that found \
             the queue full",
        );
        let node_slots = new.gauge("node_slots", "Deliveries that this node holds in memory");
        let node_bytes = new.gauge("node_bytes", "Bytes of the payloads of those");
        let build = new.gauges("build_info", ["version"], "Always 1; says what runs");
        build.set([env!("CARGO_PKG_VERSION")], 1.0);
        new.process(&process::ROWS, process::Process);
        Self {
            received,
            receive_duration,
            signature_failures,
            duplicates,
            queue_depth,
            queue_oldest_age,
            queue_latency,
            dead_letters,
            delivery_attempts,
            delivery_duration,
            delivery_exhausted,
            ssrf_blocked,
            store_commit,
            store_batch_size,
            store_errors,
            node_slots,
            node_bytes,
            declared: new,
            picture: Mutex::default(),
        }
        .begun()
    }

    /// Has the series that matter from the start: a rate needs a zero to rise from.
    fn begun(self) -> Self {
        for source_type in hookbox::Provider::all().iter().map(hookbox::Provider::name) {
            for result in ["recorded", "duplicate", "refused"] {
                self.received.begin([source_type, result]);
            }
        }
        self.received.begin([API, "recorded"]);
        self.received.begin([NO_SOURCE, "refused"]);
        for reason in ["signature_mismatch", "signature_missing"] {
            self.signature_failures.begin([reason]);
        }
        for end in ENDS {
            self.delivery_attempts.begin(end);
        }
        for operation in ["commit", "write", "read"] {
            self.store_errors.begin([operation]);
        }
        self
    }

    /// Counts a try: the status that was answered, or the code of why there was no answer.
    pub fn tried(&self, end: Result<u16, &'static str>, seconds: f64) {
        let labels = match end {
            Ok(200..=299) => ["delivered", "2xx"],
            Ok(300..=399) => ["rejected", "3xx"],
            Ok(400..=499) => ["rejected", "4xx"],
            Ok(_) => ["rejected", "5xx"],
            Err(code) => [code, "none"],
        };
        self.delivery_attempts.count(labels);
        self.delivery_duration.observe(seconds);
    }

    /// Counts a transaction of so many calls, and whether it is durable.
    pub fn committed(&self, durable: bool, calls: usize, began: Instant) {
        if durable {
            self.store_commit.observe(began.elapsed().as_secs_f64());
            self.store_batch_size.observe(real(calls));
        } else {
            self.store_errors.count(["commit"]);
        }
    }

    /// All metrics as text, after `set` has brought those up to date that are looked up.
    #[must_use]
    pub fn text(&self, form: Form, set: impl FnOnce(&Self)) -> String {
        let _one = self.picture.lock().unwrap_or_else(PoisonError::into_inner);
        set(self);
        form.write(self.declared.registry())
    }

    /// The page `docs/metrics.md`.
    #[must_use]
    pub fn page(&self) -> String {
        self.declared.page()
    }
}

/// A count as a figure.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
