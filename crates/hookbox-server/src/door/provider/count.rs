//! What the doors count.

use std::time::Instant;

use hookbox::Provider;

use super::answer::Refused;
use crate::model::Source;
use crate::store::Recorded;
use crate::telemetry::metrics::{NO_SOURCE, metrics};

/// A request was answered.
pub(super) fn received(
    source: Option<&Source>,
    result: &Result<Recorded, Refused>,
    began: Instant,
) {
    // The provider's own name: what a source is called was chosen by somebody.
    let known = source.and_then(|source| Provider::by_name(&source.provider));
    let source_type = known.map_or(NO_SOURCE, Provider::name);
    let metrics = metrics();
    metrics.received.count([source_type, name(result)]);
    metrics
        .receive_duration
        .observe(began.elapsed().as_secs_f64());
    match result {
        Ok(Recorded::Duplicate(_)) => {
            metrics.duplicates.inc();
        }
        Err(Refused::Unverified(refusal)) => metrics.signature_failures.count([refusal.code()]),
        Ok(_) | Err(_) => {}
    }
}

fn name(result: &Result<Recorded, Refused>) -> &'static str {
    match result {
        Ok(Recorded::New(_)) => "recorded",
        Ok(Recorded::Duplicate(_)) => "duplicate",
        Ok(Recorded::Quarantined(_)) => "quarantined",
        Err(Refused::CannotVerify | Refused::NotRecorded) => "failed",
        Err(
            Refused::UnknownSource
            | Refused::Method
            | Refused::TooSlow
            | Refused::Unreadable
            | Refused::TooLarge
            | Refused::Unverified(_),
        ) => "refused",
    }
}
