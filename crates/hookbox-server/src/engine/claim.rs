//! Claiming: takes what is due and not yet held by anyone.

use std::sync::Arc;
use std::time::Duration;

use super::Shared;
use crate::model::Time;

/// The longest time between two claims: what nobody told this node of waits no longer than this.
const POLL: Duration = Duration::from_secs(1);

/// Claims until the engine stops: when something is due, when room came free, and once in a while.
pub(super) async fn run(shared: Arc<Shared>) {
    let mut last = Time::default();
    while !shared.stop.is_cancelled() {
        let poll = last.plus(POLL);
        let at = shared.handoff.next_due().map_or(poll, |due| due.min(poll));
        if at > shared.clock.now() {
            tokio::select! {
                () = shared.stop.cancelled() => {}
                () = shared.handoff.woken() => {}
                () = shared.clock.sleep_until(at) => {}
            }
            continue;
        }
        last = shared.clock.now();
        if let Err(error) = shared
            .store
            .claim(last, shared.handoff.lease_end(last))
            .await
        {
            tracing::warn!(%error, "nothing could be claimed");
            shared.handoff.begin_claim();
        }
    }
}
