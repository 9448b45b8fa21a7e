//! The engine: tries what is due, and settles it.
//!
//! Work comes straight from the store ([`Handoff`]) or by a claim; either way it is leased to this node and
//! has room. Each piece is a task: it waits for its turn at the endpoint, tries once, and writes the result.

mod claim;
mod count;
mod request;
pub mod upkeep;
mod verdict;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::egress;
use crate::model::{Clock, Event, Schedule, Time};
use crate::store::{Error, Handoff, Settlement, Store, Work};

/// What a try may take in all, from resolving the name to the end of the answer.
pub const TRY_DEADLINE: Duration = Duration::from_secs(15);
/// What is left of a lease must hold a whole try and the writing of its result.
const LEASE_MARGIN: Duration = Duration::from_secs(5);
/// How long to wait before a result that could not be written is offered again.
const SETTLE_AGAIN: Duration = Duration::from_millis(250);

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
    clients: Clients,
    /// For endpoints without a schedule of their own.
    schedule: Option<Schedule>,
    clock: Clock,
    stop: CancellationToken,
    tasks: TaskTracker,
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
            handoff,
            clients,
            schedule,
            clock: Clock,
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        });
        shared.tasks.spawn(receive(Arc::clone(&shared), work));
        shared.tasks.spawn(claim::run(Arc::clone(&shared)));
        Self { shared }
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

/// One delivery, from its turn to its result.
async fn perform(shared: Arc<Shared>, mut work: Work) {
    let turn = tokio::select! {
        biased;
        () = shared.stop.cancelled() => None,
        () = work.slot.turn() => Some(()),
    };
    let now = shared.clock.now();
    let settlement = match turn {
        Some(_) if lease_holds(&work, now) => attempt(&shared, &work, now).await,
        _ => give_back(&shared, &work, now),
    };
    work.slot.end_turn();
    if let Some(settlement) = settlement {
        settle(&shared, settlement).await;
    }
}

/// Whether a whole try fits into what is left of the lease.
fn lease_holds(work: &Work, now: Time) -> bool {
    work.delivery
        .state
        .due()
        .is_some_and(|until| until.since(now) >= TRY_DEADLINE + LEASE_MARGIN)
}

fn give_back(shared: &Shared, work: &Work, now: Time) -> Option<Settlement> {
    moved(shared, work, Event::Released, now).map(|delivery| Settlement {
        delivery,
        attempt: None,
        endpoint_gone: false,
    })
}

async fn attempt(shared: &Shared, work: &Work, now: Time) -> Option<Settlement> {
    let client = if work.endpoint.trusted {
        &shared.clients.trusted
    } else {
        &shared.clients.stranger
    };
    count::began(work, now);
    let outcome = match request::build(work, now) {
        Ok(request) => client.send(request, &egress::Limits::default()).await,
        Err(unsendable) => Err(unsendable),
    };
    count::tried(&outcome);
    let ended = shared.clock.now();
    let verdict = verdict::of(&outcome, ended);
    let delivery = moved(shared, work, verdict.event, ended)?;
    let attempt = verdict::attempt(work, now, &outcome, &verdict);
    Some(Settlement {
        delivery,
        attempt: Some(attempt),
        endpoint_gone: verdict.endpoint_gone,
    })
}

fn moved(shared: &Shared, work: &Work, event: Event, now: Time) -> Option<crate::model::Delivery> {
    let schedule = work.endpoint.schedule(shared.schedule.as_ref());
    work.delivery
        .after(event, now, rand::random(), &schedule)
        .inspect_err(
            |error| tracing::error!(%error, message = %work.message.id, "a result was dropped"),
        )
        .ok()
}

/// Writes a result. While the database refuses, it is offered again until the lease ends: afterwards
/// another node may be trying, and the result would come late anyway.
async fn settle(shared: &Shared, settlement: Settlement) {
    let give_up = shared.handoff.lease_end(shared.clock.now());
    loop {
        match shared.store.settle(vec![settlement.clone()]).await {
            Ok(moved) => {
                if moved == [false] {
                    tracing::warn!(message = %settlement.delivery.message_id, "a result came after its lease was lost");
                }
                count::settled(&settlement, &moved);
                return;
            }
            Err(Error::Unavailable(_)) if shared.clock.now() < give_up => {
                shared
                    .clock
                    .sleep_until(shared.clock.now().plus(SETTLE_AGAIN))
                    .await;
            }
            Err(error) => {
                tracing::error!(%error, message = %settlement.delivery.message_id, "a result was not written");
                return;
            }
        }
    }
}
