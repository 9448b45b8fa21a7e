//! What the API counts.

use super::Fault;
use crate::telemetry::metrics::{API, metrics};

/// A message was sent, and recorded or not.
pub(super) fn received(recorded: &Result<(), Fault>) {
    let metrics = metrics();
    let result = match recorded {
        Ok(()) => "recorded",
        Err(Fault::Repeated(..)) => "duplicate",
        Err(Fault::Unavailable | Fault::Broken) => "failed",
        Err(_) => "refused",
    };
    if result == "duplicate" {
        metrics.duplicates.inc();
    }
    metrics.received.count([API, result]);
}
