//! The engine: tries what is due, and settles it.
//!
//! Work comes straight from the store ([`Handoff`]) or by a claim; either way it is leased to this node and
//! has room. Each piece is a task: it waits for its turn at the endpoint, tries once, and writes the result.
//! No try begins while results cannot be written, and none counts while our own network is down.

mod claim;
mod count;
mod network;
mod perform;
mod request;
pub mod upkeep;
mod verdict;
mod way;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::perform::perform;
use self::way::Way;
use crate::egress;
use crate::model::{Clock, Endpoint, Schedule};
use crate::store::{Handoff, Store, Work};

/// What a try may take in all, from resolving the name to the end of the answer.
pub const TRY_DEADLINE: Duration = Duration::from_secs(15);

/// The two ways out: an operator's own address is trusted, a stranger's is judged.
#[derive(Debug)]
pub struct Clients {
    /// For addresses that the operator wrote.
    pub trusted: egress::Client,
    /// For everyone else's.
    pub stranger: egress::Client,
}

/// A running engine.
#[derive(Debug)]
pub struct Engine {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    store: Arc<dyn Store>,
    handoff: Handoff,
    trusted: Way,
    stranger: Way,
    /// For endpoints without a schedule of their own.
    schedule: Option<Schedule>,
    clock: Clock,
    stop: CancellationToken,
    tasks: TaskTracker,
    /// The database took the last result that it was given.
    writable: watch::Sender<bool>,
}

impl Shared {
    fn way(&self, endpoint: &Endpoint) -> &Way {
        if endpoint.trusted {
            &self.trusted
        } else {
            &self.stranger
        }
    }

    fn set_writable(&self, writable: bool) {
        let changed = self
            .writable
            .send_if_modified(|known| std::mem::replace(known, writable) != writable);
        if changed && writable {
            tracing::info!("results can be written again; tries go on");
        } else if changed {
            tracing::warn!("results cannot be written; no try begins until they can");
        }
    }
}

impl Engine {
    /// Starts claiming and trying.
    #[must_use]
    pub fn start(
        store: Arc<dyn Store>,
        handoff: Handoff,
        work: mpsc::UnboundedReceiver<Work>,
        clients: Clients,
        schedule: Option<Schedule>,
    ) -> Self {
        let shared = Arc::new(Shared {
            store,
            trusted: Way::new(clients.trusted, true, handoff.clone()),
            stranger: Way::new(clients.stranger, false, handoff.clone()),
            handoff,
            schedule,
            clock: Clock,
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            writable: watch::Sender::new(true),
        });
        shared.tasks.spawn(receive(Arc::clone(&shared), work));
        shared.tasks.spawn(claim::run(Arc::clone(&shared)));
        Self { shared }
    }

    /// Whether results can be written, as far as is known. Until they can, no try begins.
    #[must_use]
    pub fn can_write(&self) -> bool {
        *self.shared.writable.borrow()
    }

    /// Stops: claims nothing more, gives back what was not begun, and lets tries under way end.
    ///
    /// Returns whether all ended within `patience`; what did not is tried again when its lease runs out.
    pub async fn stop(&self, patience: Duration) -> bool {
        self.shared.handoff.close();
        self.shared.stop.cancel();
        self.shared.tasks.close();
        tokio::time::timeout(patience, self.shared.tasks.wait())
            .await
            .is_ok()
    }
}

async fn receive(shared: Arc<Shared>, mut work: mpsc::UnboundedReceiver<Work>) {
    loop {
        let next = tokio::select! {
            biased;
            next = work.recv() => next,
            () = shared.stop.cancelled() => break,
        };
        let Some(next) = next else { break };
        shared.tasks.spawn(perform(Arc::clone(&shared), next));
    }
    // What was handed over before the stop is given back, not forgotten.
    work.close();
    while let Some(next) = work.recv().await {
        perform(Arc::clone(&shared), next).await;
    }
}
