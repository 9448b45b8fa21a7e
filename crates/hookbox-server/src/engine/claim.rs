//! Claiming: takes what is due and not yet held by anyone.

use std::sync::Arc;
use std::time::Duration;

use super::Shared;
use super::network::PROBE;
use crate::model::Time;

/// The longest time between two claims: what nobody told this node of waits no longer than this.
const POLL: Duration = Duration::from_secs(1);

/// Claims until the engine stops: when something is due, when room came free, and once in a while.
pub(super) async fn run(shared: Arc<Shared>) {
    let mut last = Time::default();
    let mut rested = Time::default();
    let mut probed = Time::default();
    while !shared.stop.is_cancelled() {
        let poll = last.plus(POLL);
        let at = shared.handoff.next_due().map_or(poll, |due| due.min(poll));
        let at = at.max(rested);
        if at > shared.clock.now() {
            tokio::select! {
                () = shared.stop.cancelled() => {}
                () = shared.handoff.woken() => {}
                () = shared.clock.sleep_until(at) => {}
            }
            continue;
        }
        last = shared.clock.now();
        if last.since(probed) >= PROBE {
            probed = last;
            shared.trusted.allow_probe();
            shared.stranger.allow_probe();
        }
        match shared
            .store
            .claim(last, shared.handoff.lease_end(last))
            .await
        {
            // A claim that found something has written.
            Ok(claimed) if claimed.count > 0 => shared.set_writable(true),
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%error, "nothing could be claimed");
                shared.handoff.begin_claim();
            }
        }
        // Claims never take more than half of the writer's time, however many endpoints they go round.
        let now = shared.clock.now();
        rested = now.plus(now.since(last));
    }
}
