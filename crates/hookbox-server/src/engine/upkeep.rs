//! Upkeep: removes what is kept long enough, once a minute.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::model::Clock;
use crate::store::{Removed, Retention, Store};

/// How often it is looked for what can go.
const EVERY: Duration = Duration::from_secs(60);
/// The pause between rounds when there is more: upkeep is in nobody's way.
const PAUSE: Duration = Duration::from_millis(200);

/// Does upkeep until it is told to stop.
pub async fn run(store: Arc<dyn Store>, keep: Retention, stop: CancellationToken) {
    while !stop.is_cancelled() {
        let now = Clock.now();
        let wait = match store.upkeep(now, keep).await {
            Ok(removed) => {
                let removed = removed.unwrap_or_default();
                tell(&removed);
                if removed.more { PAUSE } else { EVERY }
            }
            Err(error) => {
                tracing::warn!(%error, "upkeep was not done");
                EVERY
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = Clock.sleep_until(Clock.now().plus(wait)) => {}
        }
    }
}

fn tell(removed: &Removed) {
    if removed.messages + removed.days + removed.receipts > 0 {
        tracing::info!(
            messages = removed.messages,
            days = removed.days,
            receipts = removed.receipts,
            "what was kept long enough was removed"
        );
    }
    if removed.days_kept > 0 {
        tracing::warn!(
            days = removed.days_kept,
            "days that are over have deliveries that are not settled; they stay until those are"
        );
    }
}
