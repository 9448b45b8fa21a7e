use std::time::Duration;

use futures_util::FutureExt as _;

use super::*;

const LIMITS: Limits = Limits {
    slots: 4,
    bytes: 100,
    application: 4,
    in_flight: 1,
    lane: 2,
};
const ROOMY: Limits = Limits {
    slots: 100,
    bytes: 1 << 20,
    application: 25,
    in_flight: 8,
    lane: 16,
};
pub(super) const SLOW: EndpointId = EndpointId([1; 16]);
const OTHER: EndpointId = EndpointId([2; 16]);

pub(super) fn want(endpoint: EndpointId, bytes: usize) -> Want {
    Want {
        application: ApplicationId([0; 16]),
        endpoint,
        trusted: false,
        bytes,
        retry: false,
    }
}

fn retry(endpoint: EndpointId) -> Want {
    Want {
        retry: true,
        ..want(endpoint, 1)
    }
}

fn of_application(number: u8, endpoint: u8) -> Want {
    Want {
        application: ApplicationId([number; 16]),
        ..want(EndpointId([endpoint; 16]), 1)
    }
}

fn fill(handoff: &Handoff, want: Want) -> Vec<Slot> {
    std::iter::from_fn(|| handoff.reserve(want)).collect()
}

#[test]
fn one_endpoint_cannot_take_the_room_of_another() {
    let (handoff, _engine) = Handoff::new(LIMITS);
    assert_eq!(fill(&handoff, want(SLOW, 1)).len(), 2);
    assert!(handoff.reserve(want(OTHER, 1)).is_some());
}

#[test]
fn one_application_cannot_take_the_room_of_another_however_many_endpoints_it_has() {
    let (handoff, _engine) = Handoff::new(ROOMY);
    let loud: Vec<_> = (1..=9)
        .flat_map(|endpoint| fill(&handoff, of_application(1, endpoint)))
        .collect();
    assert_eq!(loud.len(), 25);
    assert_eq!(handoff.room(&of_application(1, 10)), 0);
    assert_eq!(handoff.room(&of_application(2, 11)), 16);
    assert_eq!(fill(&handoff, of_application(2, 11)).len(), 16);
    drop(loud);
    assert_eq!(handoff.room(&of_application(1, 10)), 16);
}

#[test]
fn retries_leave_room_for_first_tries_everywhere() {
    let (handoff, _engine) = Handoff::new(ROOMY);
    let of_endpoint = fill(&handoff, retry(SLOW));
    assert_eq!(of_endpoint.len(), 8);
    let firsts = fill(&handoff, want(SLOW, 1));
    assert_eq!(firsts.len(), 8);
    // The application has half of its room taken, and more than a fifth by retries.
    assert!(handoff.reserve(retry(OTHER)).is_none());
    assert!(handoff.reserve(want(OTHER, 1)).is_some());
}

#[test]
fn what_is_just_made_waits_behind_what_was_sent_away_but_not_behind_retries() {
    let (handoff, _engine) = Handoff::new(ROOMY);
    let retries = fill(&handoff, retry(SLOW));
    let mut firsts = fill(&handoff, want(SLOW, 1));
    firsts.pop();
    assert!(handoff.reserve_new(want(SLOW, 1)).is_none(), "one waits");
    handoff.begin_claim();
    assert!(handoff.reserve(retry(SLOW)).is_none());
    assert!(handoff.reserve_new(want(SLOW, 1)).is_some());
    drop(retries);
}

#[test]
fn bytes_are_bounded_but_one_always_fits() {
    let (handoff, _engine) = Handoff::new(LIMITS);
    let huge = handoff.reserve(want(SLOW, 1_000_000));
    assert!(huge.is_some());
    assert!(handoff.reserve(want(OTHER, 1)).is_none());
    drop(huge);
    assert!(handoff.reserve(want(OTHER, 60)).is_some_and(|_held| true));
    let held = handoff.reserve(want(OTHER, 60));
    assert!(held.is_some() && handoff.reserve(want(SLOW, 60)).is_none());
}

#[tokio::test]
async fn room_that_comes_free_wakes_whoever_waits_for_it() {
    let (handoff, _engine) = Handoff::new(LIMITS);
    let held = fill(&handoff, want(SLOW, 1));
    drop(held);
    handoff.woken().await;
    assert_eq!((handoff.held(), handoff.next_due()), (0, Some(Time(0))));
}

#[test]
fn a_closed_node_takes_nothing() {
    let (handoff, _engine) = Handoff::new(LIMITS);
    handoff.close();
    for handoff in [handoff, Handoff::closed()] {
        assert!(handoff.reserve(want(SLOW, 0)).is_none());
        assert!(handoff.reserve(retry(SLOW)).is_none());
    }
}

#[test]
fn what_is_held_back_is_held_back_on_its_side_alone() {
    let (handoff, _engine) = Handoff::new(ROOMY);
    let trusted = Want {
        trusted: true,
        ..want(OTHER, 1)
    };
    handoff.allow(false, Some(1));
    assert_eq!(handoff.room(&want(SLOW, 1)), 1);
    let probe = handoff.reserve(want(SLOW, 1));
    assert!(probe.is_some() && handoff.reserve(want(SLOW, 1)).is_none());
    assert_eq!(handoff.room(&trusted), 16);
    handoff.allow(false, None);
    assert_eq!(handoff.room(&want(SLOW, 1)), 15);
}

/// How many of these have their turn at once.
fn in_flight(slots: &mut [Slot]) -> usize {
    slots
        .iter_mut()
        .filter_map(|slot| slot.turn().now_or_never())
        .count()
}

#[test]
fn a_sick_endpoint_has_one_try_in_flight_also_when_its_lane_was_forgotten() {
    let (handoff, _engine) = Handoff::new(ROOMY);
    let mut held = fill(&handoff, want(SLOW, 1));
    assert_eq!((held.len(), in_flight(&mut held)), (16, 8));
    for _ in 0..10 {
        held[0].tried(sign(false), Time(0));
    }
    // Tries under way end; nobody takes their turns until one is left.
    held.drain(..7);
    assert_eq!(in_flight(&mut held), 1);
    held.remove(0);
    assert_eq!(in_flight(&mut held), 1);

    drop(held);
    handoff.begin_claim();
    let mut held = fill(&handoff, want(SLOW, 1));
    assert_eq!((held.len(), in_flight(&mut held)), (2, 1));
    for second in [0, 12, 24, 36, 48, 60, 72, 84, 96, 108, 120] {
        held[0].tried(sign(true), Time(second * 1000));
    }
    held.extend(fill(&handoff, want(SLOW, 1)));
    assert_eq!((held.len(), in_flight(&mut held)), (16, 8));
}

#[test]
fn nothing_waits_in_line_for_a_slow_endpoint() {
    let (handoff, _engine) = Handoff::new(ROOMY);
    let first = handoff.reserve(want(SLOW, 1)).unwrap();
    let took = Duration::from_secs(14);
    first.tried(Sign { ok: true, took }, Time(0));
    drop(first);
    assert_eq!(fill(&handoff, want(SLOW, 1)).len(), 8);
}

fn sign(ok: bool) -> Sign {
    Sign {
        ok,
        took: Duration::from_millis(5),
    }
}
