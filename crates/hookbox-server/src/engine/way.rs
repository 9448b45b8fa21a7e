//! A way out, and what is known of the network behind it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::network::{Change, Hint, Network};
use crate::egress::{Answer, Client, Failure, FailureKind};
use crate::model::Time;
use crate::store::Handoff;

/// A way out. The operator's own addresses and strangers' often lie in different networks, so each way has its own.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) client: Client,
    trusted: bool,
    handoff: Handoff,
    network: Mutex<Network>,
}

impl Way {
    pub(super) fn new(client: Client, trusted: bool, handoff: Handoff) -> Self {
        Self {
            client,
            trusted,
            handoff,
            network: Mutex::default(),
        }
    }

    /// Whether a try may begin now.
    pub(super) fn may_try(&self, now: Time) -> bool {
        self.network().may_try(now)
    }

    /// Learns of a try; returns whether its failure is our own fault, as far as can be known.
    pub(super) fn is_our_fault(
        &self,
        outcome: &Result<Answer, Failure>,
        host: &str,
        now: Time,
    ) -> bool {
        let hint = Hint::of(outcome);
        let mut network = self.network();
        if let Some(change) = network.heard(hint, hash(host), now) {
            self.follow(change);
        }
        let timed_out = matches!(outcome, Err(failure) if failure.kind == FailureKind::Timeout);
        network.is_down() && (hint == Hint::Doubtful || timed_out)
    }

    /// Lets one probe be claimed, if the network is down.
    pub(super) fn allow_probe(&self) {
        // Under the lock, so that it cannot come after the end of the outage.
        let network = self.network();
        if network.is_down() {
            self.handoff.allow(self.trusted, Some(1));
        }
    }

    /// Called under the lock, so that what is allowed follows the changes in their order.
    fn follow(&self, change: Change) {
        let trusted = self.trusted;
        match change {
            Change::Down => {
                tracing::error!(
                    trusted,
                    "nobody can be reached: this machine's network or resolver seems to be down; \
                     failures do not count until somebody can"
                );
                self.handoff.allow(trusted, Some(0));
            }
            Change::Up => {
                tracing::info!(trusted, "the network works again");
                self.handoff.allow(trusted, None);
            }
            Change::TooLong => {
                tracing::warn!(
                    trusted,
                    "nobody could be reached for long; failures count again"
                );
                self.handoff.allow(trusted, None);
            }
        }
    }

    fn network(&self) -> MutexGuard<'_, Network> {
        self.network.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hash(host: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    host.hash(&mut hasher);
    hasher.finish()
}
