//! One delivery, from its turn to its result.

use std::sync::Arc;
use std::time::Duration;

use super::way::Way;
use super::{Shared, TRY_DEADLINE, count, request, verdict};
use crate::egress::{self, Answer, Failure, FailureKind};
use crate::model::health::Sign;
use crate::model::{Delivery, Event, Time};
use crate::store::{Error, Settlement, Work};

/// What is left of a lease must hold a whole try and the writing of its result.
const LEASE_MARGIN: Duration = Duration::from_secs(5);
/// How long to wait before a result that could not be written is offered again.
const SETTLE_AGAIN: Duration = Duration::from_millis(250);
/// How long a try that proved nothing is put off.
const POSTPONED: Duration = Duration::from_secs(5);

/// Waits for its turn, tries, and writes the result; or gives it back.
pub(super) async fn perform(shared: Arc<Shared>, mut work: Work) {
    let stopped = tokio::select! {
        biased;
        () = shared.stop.cancelled() => true,
        () = may_begin(&shared, &mut work) => false,
    };
    let now = shared.clock.now();
    let way = shared.way(&work.endpoint);
    let settlement = if stopped || latest_begin(&work) < now {
        untried(&shared, &work, Event::Released, now)
    } else if !way.may_try(now) {
        let until = now.plus(POSTPONED);
        untried(&shared, &work, Event::Postponed { until }, now)
    } else {
        attempt(&shared, way, &work, now).await
    };
    work.slot.end_turn();
    if let Some(settlement) = settlement {
        settle(&shared, settlement).await;
    }
}

/// Waits for its turn at the endpoint, and while results cannot be written: what is sent then would be sent again.
async fn may_begin(shared: &Shared, work: &mut Work) {
    work.slot.turn().await;
    if *shared.writable.borrow() {
        return;
    }
    let mut writable = shared.writable.subscribe();
    let too_late = latest_begin(work).plus(Duration::from_millis(1));
    tokio::select! {
        _ = writable.wait_for(|writable| *writable) => {}
        () = shared.clock.sleep_until(too_late) => {}
    }
}

/// Until then a whole try fits into what is left of the lease.
fn latest_begin(work: &Work) -> Time {
    let until = work.delivery.state.due().unwrap_or_default();
    until.minus(TRY_DEADLINE + LEASE_MARGIN)
}

fn untried(shared: &Shared, work: &Work, event: Event, now: Time) -> Option<Settlement> {
    moved(shared, work, event, now).map(|delivery| Settlement {
        delivery,
        attempt: None,
        endpoint_gone: false,
    })
}

async fn attempt(shared: &Shared, way: &Way, work: &Work, now: Time) -> Option<Settlement> {
    count::began(work, now);
    let (outcome, our_fault) = match request::build(work, now) {
        Ok(request) => {
            let host = request.uri.host().unwrap_or_default().to_owned();
            let limits = egress::Limits::default();
            let outcome = way.client.send(request, &limits).await;
            let our_fault = way.is_our_fault(&outcome, &host, shared.clock.now());
            (outcome, our_fault)
        }
        Err(unsendable) => (Err(unsendable), false),
    };
    count::tried(&outcome);
    let ended = shared.clock.now();
    let mut verdict = verdict::of(&outcome, ended);
    if our_fault {
        let until = ended.plus(POSTPONED);
        verdict.event = Event::Postponed { until };
    } else {
        report(work, &outcome, &verdict, ended);
    }
    let delivery = moved(shared, work, verdict.event, ended)?;
    let attempt = verdict::attempt(work, now, &outcome, &verdict);
    Some(Settlement {
        delivery,
        attempt: Some(attempt),
        endpoint_gone: verdict.endpoint_gone,
    })
}

/// Tells the endpoint's health of the try. That no request could be made of it says nothing of the endpoint.
fn report(work: &Work, outcome: &Result<Answer, Failure>, verdict: &verdict::Verdict, now: Time) {
    let took = match outcome {
        Ok(answer) => answer.duration,
        Err(failure) if failure.kind == FailureKind::Unsendable => return,
        Err(failure) => failure.duration,
    };
    let ok = verdict.event == Event::Succeeded;
    work.slot.tried(Sign { ok, took }, now);
}

fn moved(shared: &Shared, work: &Work, event: Event, now: Time) -> Option<Delivery> {
    let schedule = work.endpoint.schedule(shared.schedule.as_ref());
    work.delivery
        .after(event, now, rand::random(), &schedule)
        .inspect_err(
            |error| tracing::error!(%error, message = %work.message.id, "a result was dropped"),
        )
        .ok()
}

/// Writes a result. While the database refuses, it is offered again until the lease ends: afterwards
/// another node may be trying, and the result would come late anyway. Until then no try begins.
async fn settle(shared: &Shared, settlement: Settlement) {
    let give_up = shared.handoff.lease_end(shared.clock.now());
    loop {
        match shared.store.settle(vec![settlement.clone()]).await {
            Err(Error::Unavailable(_)) if shared.clock.now() < give_up => {
                shared.set_writable(false);
                let again = shared.clock.now().plus(SETTLE_AGAIN);
                shared.clock.sleep_until(again).await;
            }
            Ok(moved) => {
                shared.set_writable(true);
                if moved == [false] {
                    tracing::warn!(message = %settlement.delivery.message_id, "a result came after its lease was lost");
                }
                count::settled(&settlement, &moved);
                return;
            }
            Err(error) => {
                // Nobody asks the database again for this one, so others must be free to.
                shared.set_writable(true);
                tracing::error!(%error, message = %settlement.delivery.message_id, "a result was not written");
                return;
            }
        }
    }
}
