//! What the engine counts.

use crate::egress::{Answer, Failure, FailureKind};
use crate::model::Time;
use crate::model::delivery::{Cause, State};
use crate::store::{Settlement, Work};
use crate::telemetry::metrics::metrics;

/// A try begins. For the first one of a delivery it shows how long that waited for its turn.
pub(super) fn began(work: &Work, now: Time) {
    // What a person asked for again, or what was tried before, waited for other reasons.
    if work.delivery.failures == 0 && !work.delivery.manual {
        let waited = now.since(work.message.created_at);
        metrics().queue_latency.observe(waited.as_secs_f64());
    }
}

/// A try ended.
pub(super) fn tried(outcome: &Result<Answer, Failure>) {
    let (end, took) = match outcome {
        Ok(answer) => (Ok(answer.status), answer.duration),
        Err(failure) => (Err(failure.code()), failure.duration),
    };
    metrics().tried(end, took.as_secs_f64());
    if let Err(failure) = outcome
        && failure.kind == FailureKind::TargetRefused
    {
        metrics().ssrf_blocked.inc();
    }
}

/// A result is durable.
pub(super) fn settled(settlement: &Settlement, moved: &[bool]) {
    let exhausted = State::Dead {
        cause: Cause::Exhausted,
    };
    if moved == [true] && settlement.delivery.state == exhausted {
        metrics().delivery_exhausted.inc();
    }
}
