//! Claiming: nobody twice, nobody forgotten, and everyone in turn.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use hookbox_server::model::{Delivery, State};
use hookbox_server::store::handoff::Limits;
use hookbox_server::store::{Draft, Settlement, Work};

use super::database::{NOW, TestDatabase, draft};
use super::on_every_database;

on_every_database!(
    no_two_claims_share_a_delivery,
    a_long_queue_takes_no_turn_from_a_short_one,
    when_not_all_fit_the_next_claim_begins_with_those_left_out,
    a_lease_holds_until_it_ends_and_then_anyone_may_have_it,
    a_claim_tells_when_it_pays_to_come_again,
    many_endpoints_with_nothing_due_hide_none_that_has,
    of_many_endpoints_each_has_its_turn_before_any_has_a_second,
    of_one_endpoint_first_tries_come_before_retries,
    an_application_with_many_endpoints_leaves_room_for_another,
);

pub(super) const ROOMY: Limits = Limits {
    slots: 10_000,
    bytes: 1 << 30,
    application: 10_000,
    in_flight: 10_000,
    lane: 10_000,
};

/// A database with messages that nobody holds: recorded while the node took nothing.
pub(super) async fn waiting(db: &TestDatabase, limits: Limits, endpoints: usize, messages: usize) {
    db.with_room(limits).await;
    let app = db.application("a").await;
    for _ in 0..endpoints {
        db.endpoint(app, |_| {}).await;
    }
    db.handoff().close();
    for _ in 0..messages.div_ceil(500) {
        let drafts = (0..messages.min(500)).map(|_| draft("a")).collect();
        db.store().record(drafts).await.unwrap();
    }
    db.reopen().await;
}

async fn no_two_claims_share_a_delivery(db: &TestDatabase) {
    waiting(db, ROOMY, 5, 200).await;
    let claims: Vec<_> = (0..16)
        .map(|_| {
            let store = db.store();
            tokio::spawn(async move {
                store
                    .claim(NOW, NOW.plus(Duration::from_secs(60)))
                    .await
                    .unwrap()
                    .count
            })
        })
        .collect();
    let mut count = 0;
    for claim in claims {
        count += claim.await.unwrap();
    }
    let work = db.handed_over();
    let unique: HashSet<_> = work
        .iter()
        .map(|work| (work.delivery.message_id, work.delivery.endpoint_id))
        .collect();
    assert_eq!((count, work.len(), unique.len()), (1000, 1000, 1000));
    assert!(work.iter().all(|work| work.delivery.fence == 1));
}

async fn a_long_queue_takes_no_turn_from_a_short_one(db: &TestDatabase) {
    let room = Limits {
        slots: 30,
        bytes: 1 << 30,
        application: 30,
        in_flight: 10,
        lane: 10,
    };
    waiting(db, room, 3, 1000).await;
    db.store()
        .claim(NOW, NOW.plus(Duration::from_secs(60)))
        .await
        .unwrap();
    let work = db.handed_over();
    let per_endpoint = |work: &[Work]| {
        let mut counts = std::collections::BTreeMap::new();
        for work in work {
            *counts.entry(work.delivery.endpoint_id).or_insert(0) += 1;
        }
        counts.into_values().collect::<Vec<_>>()
    };
    assert_eq!(per_endpoint(&work), [10, 10, 10]);
    assert_eq!(db.store().claim(NOW, NOW).await.unwrap().count, 0);
}

async fn when_not_all_fit_the_next_claim_begins_with_those_left_out(db: &TestDatabase) {
    let room = Limits {
        slots: 10,
        bytes: 1 << 30,
        application: 10,
        in_flight: 10,
        lane: 10,
    };
    waiting(db, room, 3, 50).await;
    let mut seen = HashSet::new();
    for _ in 0..3 {
        db.store()
            .claim(NOW, NOW.plus(Duration::from_secs(60)))
            .await
            .unwrap();
        seen.extend(
            db.handed_over()
                .into_iter()
                .map(|work| work.delivery.endpoint_id),
        );
    }
    assert_eq!(seen.len(), 3);
}

async fn of_many_endpoints_each_has_its_turn_before_any_has_a_second(db: &TestDatabase) {
    let room = Limits {
        slots: 40,
        application: 40,
        lane: 1,
        ..ROOMY
    };
    waiting(db, room, 300, 3).await;
    let mut turns = HashMap::new();
    for _ in 0..8 {
        let until = NOW.plus(Duration::from_secs(60));
        db.store().claim(NOW, until).await.unwrap();
        for work in db.handed_over() {
            *turns.entry(work.delivery.endpoint_id).or_insert(0) += 1;
        }
    }
    assert_eq!(turns.len(), 300);
    assert!(turns.values().all(|turns| *turns <= 2), "{turns:?}");
    let again = turns.values().filter(|turns| **turns == 2).count();
    assert_eq!(again, 20);
}

async fn of_one_endpoint_first_tries_come_before_retries(db: &TestDatabase) {
    waiting(db, ROOMY, 1, 40).await;
    let until = NOW.plus(Duration::from_secs(60));
    db.store().claim(NOW, until).await.unwrap();
    for work in db.handed_over() {
        let failed = Settlement {
            delivery: Delivery {
                state: State::Scheduled { at: NOW },
                failures: 1,
                ..work.delivery
            },
            attempt: None,
            endpoint_gone: false,
        };
        db.store().settle(vec![failed]).await.unwrap();
    }
    db.handoff().close();
    let later = NOW.plus(Duration::from_secs(1));
    let fresh = (0..40).map(|_| Draft {
        created_at: later,
        ..draft("a")
    });
    db.store().record(fresh.collect()).await.unwrap();
    db.reopen().await;
    let claimed = db.store().claim(later, until).await.unwrap();
    let failures = db
        .handed_over()
        .into_iter()
        .map(|work| work.delivery.failures);
    let expected = std::iter::repeat_n(0, 40).chain(std::iter::repeat_n(1, 40));
    assert!(failures.eq(expected));
    assert_eq!(claimed.count, 80);
}

async fn an_application_with_many_endpoints_leaves_room_for_another(db: &TestDatabase) {
    let room = Limits {
        slots: 40,
        application: 10,
        lane: 4,
        ..ROOMY
    };
    waiting(db, room, 30, 30).await;
    let other = db.application("b").await;
    db.endpoint(other, |_| {}).await;
    let until = NOW.plus(Duration::from_secs(60));
    assert_eq!(db.store().claim(NOW, until).await.unwrap().count, 10);
    let held = db.handed_over();
    let drafts = (0..4).map(|_| draft("b")).collect();
    db.store().record(drafts).await.unwrap();
    assert_eq!(db.handed_over().len(), 4, "they go straight on");
    drop(held);
}

async fn a_lease_holds_until_it_ends_and_then_anyone_may_have_it(db: &TestDatabase) {
    waiting(db, ROOMY, 1, 1).await;
    let until = NOW.plus(Duration::from_secs(60));
    assert_eq!(db.store().claim(NOW, until).await.unwrap().count, 1);
    let early = db
        .store()
        .claim(until.minus(Duration::from_millis(1)), until)
        .await
        .unwrap();
    assert_eq!(early.count, 0);
    assert!(early.next_due.is_none_or(|due| due == until), "{early:?}");
    assert_eq!(
        db.store()
            .claim(until, until.plus(Duration::from_secs(60)))
            .await
            .unwrap()
            .count,
        1
    );
    let fences: Vec<_> = db
        .handed_over()
        .iter()
        .map(|work| work.delivery.fence)
        .collect();
    assert_eq!(fences, [1, 2]);
}

async fn a_claim_tells_when_it_pays_to_come_again(db: &TestDatabase) {
    waiting(db, ROOMY, 1, 0).await;
    let claimed = db.store().claim(NOW, NOW).await.unwrap();
    assert_eq!((claimed.count, claimed.next_due), (0, None));
}

async fn many_endpoints_with_nothing_due_hide_none_that_has(db: &TestDatabase) {
    waiting(db, ROOMY, 1100, 0).await;
    db.handoff().close();
    let later = NOW.plus(Duration::from_hours(1));
    let mut not_yet = draft("a");
    not_yet.created_at = later;
    db.store().record(vec![not_yet]).await.unwrap();
    let last = db.application("last").await;
    let due = db.endpoint(last, |_| {}).await;
    db.store().record(vec![draft("last")]).await.unwrap();
    db.reopen().await;
    // A claim that stays short says so, and the next one goes on where it ended.
    let mut claimed = db.store().claim(NOW, later).await.unwrap();
    assert_eq!((claimed.count, claimed.next_due), (0, Some(NOW)));
    for _ in 0..10 {
        if claimed.count == 0 && claimed.next_due == Some(NOW) {
            claimed = db.store().claim(NOW, later).await.unwrap();
        }
    }
    assert_eq!(claimed.count, 1);
    assert_eq!(db.handed_over()[0].endpoint.id, due);
}
