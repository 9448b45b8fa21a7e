//! The figures of the queue: every state that is not final, and since when.

use std::time::Duration;

use hookbox_server::model::delivery::{Cause, Delivery};
use hookbox_server::model::endpoint::Disabled;
use hookbox_server::model::{Clock, State};
use hookbox_server::store::handoff::Limits;
use hookbox_server::store::{QueueFigures, Settlement, Waiting};

use super::database::{NOW, TestDatabase, draft};
use super::on_every_database;

const HOUR: Duration = Duration::from_secs(3600);

on_every_database!(
    an_empty_queue_has_no_figures,
    what_waits_is_counted_with_its_oldest,
    a_lease_waits_only_once_it_has_ended,
);

async fn an_empty_queue_has_no_figures(db: &TestDatabase) {
    let figures = db.store().queue(NOW).await.unwrap();
    assert_eq!(figures, QueueFigures::default());
    assert_eq!(figures.oldest_due_age(NOW), Duration::ZERO);
}

async fn what_waits_is_counted_with_its_oldest(db: &TestDatabase) {
    let app = db.application("a").await;
    db.endpoint(app, |_| {}).await;
    let disable = |endpoint: &mut hookbox_server::model::Endpoint| {
        endpoint.disabled = Some(Disabled::ByUser);
    };
    db.endpoint(app, disable).await;
    // An id is made at its time or later: ids of one process stand in order.
    let first = draft("a");
    let made = first.id.made_at();
    db.store().record(vec![first]).await.unwrap();
    for minutes in 1..=2 {
        let mut late = draft("a");
        late.created_at = NOW.plus(Duration::from_secs(60 * minutes));
        db.store().record(vec![draft("a"), late]).await.unwrap();
    }
    let waiting = |count, oldest| Waiting { count, oldest };
    let figures = db.store().queue(NOW).await.unwrap();
    let expected = QueueFigures {
        due: waiting(3, Some(NOW)),
        scheduled: 2,
        held: waiting(5, Some(made)),
        ..QueueFigures::default()
    };
    assert_eq!(figures, expected);
    let later = NOW.plus(HOUR);
    let figures = db.store().queue(later).await.unwrap();
    assert_eq!(figures.due, waiting(5, Some(NOW)));
    assert_eq!(figures.scheduled, 0);
    assert_eq!(figures.oldest_due_age(later), HOUR);
}

async fn a_lease_waits_only_once_it_has_ended(db: &TestDatabase) {
    db.with_room(Limits {
        slots: 100,
        bytes: 1 << 20,
        application: 100,
        in_flight: 10,
        lane: 100,
    })
    .await;
    let app = db.application("a").await;
    db.endpoint(app, |_| {}).await;
    let now = Clock.now();
    db.store()
        .record((0..5).map(|_| draft("a")).collect())
        .await
        .unwrap();
    let mut work = db.handed_over();
    for state in [
        State::Delivered,
        State::Scheduled { at: now },
        State::Dead {
            cause: Cause::Exhausted,
        },
    ] {
        settle(db, work.pop().unwrap().delivery, state).await;
    }
    let figures = db.store().queue(now).await.unwrap();
    let counts = (figures.due.count, figures.leased.count, figures.dead);
    assert_eq!(counts, (1, 2, 1));
    assert_eq!(figures.leased.age(now), Duration::ZERO);
    let later = now.plus(HOUR);
    let figures = db.store().queue(later).await.unwrap();
    let age = figures.leased.age(later);
    assert!(age > HOUR / 2 && age < HOUR, "{age:?}");
    assert_eq!(figures.oldest_due_age(later), HOUR);
}

async fn settle(db: &TestDatabase, delivery: Delivery, state: State) {
    let settlement = Settlement {
        delivery: Delivery { state, ..delivery },
        attempt: None,
        endpoint_gone: false,
    };
    assert_eq!(db.store().settle(vec![settlement]).await, Ok(vec![true]));
}

/// How long a count takes with a million deliveries waiting: `cargo test --release … -- --ignored --nocapture million`.
#[tokio::test]
#[ignore = "a measurement"]
async fn a_million_is_counted() {
    let db = TestDatabase::sqlite().await;
    let app = db.application("a").await;
    for _ in 0..1000 {
        db.endpoint(app, |_| {}).await;
    }
    for _ in 0..10 {
        let drafts = (0..100).map(|_| draft("a")).collect();
        db.store().record(drafts).await.unwrap();
    }
    for _ in 0..5 {
        let began = std::time::Instant::now();
        let figures = db.store().queue(NOW).await.unwrap();
        println!("{} in {:?}", figures.due.count, began.elapsed());
    }
}
