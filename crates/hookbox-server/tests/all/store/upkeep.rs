//! Upkeep: what is old goes, what is still owed stays, and a source remembers longer than it keeps.

use std::time::Duration;

use hookbox_server::model::delivery::{Cause, Delivery};
use hookbox_server::model::{MessageId, State, Time};
use hookbox_server::store::handoff::Limits;
use hookbox_server::store::{
    AttemptFilter, DeadFilter, Error, MessageFilter, Recorded, Retention, Settlement, Work,
};

use super::database::{NOW, TestDatabase, all, draft, event, once};
use super::on_every_database;

const DAY: Duration = Duration::from_hours(24);
const KEEP: Retention = Retention {
    messages: Duration::from_hours(24 * 10),
    receipts: Duration::from_hours(24 * 30),
};
const ROOM: Limits = Limits {
    slots: 100,
    bytes: 1 << 20,
    application: 100,
    in_flight: 10,
    lane: 100,
};

on_every_database!(
    old_messages_go_with_all_that_is_theirs,
    a_source_remembers_longer_than_it_keeps,
    what_is_still_owed_stays,
    keys_go_after_a_day,
    two_rounds_at_once_are_harmless,
);

async fn sweep(db: &TestDatabase, now: Time) {
    for _ in 0..50 {
        let removed = db.store().upkeep(now, KEEP).await.unwrap();
        if removed.is_some_and(|removed| !removed.more) {
            return;
        }
    }
    panic!("upkeep finds no end");
}

/// A message of the application made then, whose id says so.
fn made_at(at: Time, number: u8) -> hookbox_server::store::Draft {
    let mut new = draft("a");
    let mut id = MessageId::first_at(at);
    id.0[15] = number;
    (new.id, new.created_at) = (id, at);
    new
}

async fn settle(db: &TestDatabase, work: &Work, state: State) {
    let settlement = Settlement {
        delivery: Delivery {
            state,
            ..work.delivery
        },
        attempt: None,
        endpoint_gone: false,
    };
    db.store().settle(vec![settlement]).await.unwrap();
}

async fn old_messages_go_with_all_that_is_theirs(db: &TestDatabase) {
    db.with_room(ROOM).await;
    // The days of the messages have tables of their own, where a database keeps such.
    sweep(db, NOW).await;
    let app = db.application("a").await;
    let endpoint = db.endpoint(app, |_| {}).await;
    let later = NOW.plus(DAY * 2);
    for (number, at) in [(0, NOW), (1, NOW), (2, later)] {
        db.store().record(vec![made_at(at, number)]).await.unwrap();
    }
    let mut work = db.handed_over();
    work.sort_by_key(|work| work.message.id);
    settle(db, &work[0], State::Delivered).await;
    let cause = Cause::Exhausted;
    settle(db, &work[1], State::Dead { cause }).await;
    settle(db, &work[2], State::Dead { cause }).await;
    let count = || async {
        let (store, filter) = (db.store(), MessageFilter::default());
        let messages = store.messages(app, filter, all()).await.unwrap().data.len();
        let dead = store.dead(app, DeadFilter::default(), all()).await.unwrap();
        (messages, dead.data.len())
    };
    sweep(db, NOW.plus(DAY * 9)).await;
    assert_eq!(count().await, (3, 2));
    sweep(db, NOW.plus(DAY * 11)).await;
    assert_eq!(count().await, (1, 1));
    let gone = db.store().deliveries(work[0].message.id, all()).await;
    assert!(gone.unwrap().data.is_empty());
    let filter = AttemptFilter {
        endpoint: Some(endpoint),
        ..AttemptFilter::default()
    };
    let attempts = db.store().attempts(app, filter, all()).await.unwrap();
    assert!(attempts.data.is_empty());
    sweep(db, later.plus(DAY * 12)).await;
    assert_eq!(count().await, (0, 0));
}

async fn a_source_remembers_longer_than_it_keeps(db: &TestDatabase) {
    let source = db.source("s", &[]).await;
    let mut first = event(source, "evt_1", 1);
    first.id = MessageId::first_at(NOW);
    let Recorded::New(message) = db.store().record(vec![first]).await.unwrap()[0] else {
        panic!("it is new");
    };
    sweep(db, NOW.plus(DAY * 20)).await;
    let app = db.store().application("default").await.unwrap().id;
    let found = db.store().message(app, &message.to_string()).await;
    assert_eq!(found, Err(Error::NotFound("message")));
    let again = db.store().record(vec![event(source, "evt_1", 1)]).await;
    assert_eq!(again.unwrap(), [Recorded::Duplicate(message)]);
    sweep(db, NOW.plus(DAY * 31)).await;
    let again = db.store().record(vec![event(source, "evt_1", 1)]).await;
    assert!(matches!(again.unwrap()[..], [Recorded::New(_)]));
}

async fn what_is_still_owed_stays(db: &TestDatabase) {
    sweep(db, NOW).await;
    let app = db.application("a").await;
    db.endpoint(app, |_| {}).await;
    // One in the tables of its day, one of a day that has none, where a database keeps such.
    for at in [NOW, NOW.minus(DAY * 30)] {
        let owed = made_at(at, 0);
        db.store().record(vec![owed.clone()]).await.unwrap();
        sweep(db, NOW.plus(DAY * 100)).await;
        let (delivery, _) = db.store().deliveries(owed.id, all()).await.unwrap().data[0];
        assert_eq!(delivery.state, State::Scheduled { at });
        assert!(db.store().message(app, &owed.id.to_string()).await.is_ok());
    }
}

async fn keys_go_after_a_day(db: &TestDatabase) {
    db.application("a").await;
    let mut new = draft("a");
    new.once = Some(once(1, 1));
    db.store().record(vec![new.clone()]).await.unwrap();
    sweep(db, NOW.plus(DAY / 2)).await;
    new.id = MessageId::new(NOW);
    let again = db.store().record(vec![new.clone()]).await;
    assert!(matches!(again, Err(Error::Repeated { .. })));
    let removed = db.store().upkeep(NOW.plus(DAY * 2), KEEP).await.unwrap();
    assert_eq!(removed.unwrap().keys, 1);
    assert!(db.store().record(vec![new]).await.is_ok());
}

async fn two_rounds_at_once_are_harmless(db: &TestDatabase) {
    let app = db.application("a").await;
    for number in 0..200 {
        db.store().record(vec![made_at(NOW, number)]).await.unwrap();
    }
    let now = NOW.plus(DAY * 11);
    let rounds: Vec<_> = (0..8)
        .map(|_| {
            let store = db.store();
            tokio::spawn(async move { store.upkeep(now, KEEP).await })
        })
        .collect();
    for round in rounds {
        round.await.unwrap().unwrap();
    }
    sweep(db, now).await;
    let (store, filter) = (db.store(), MessageFilter::default());
    let left = store.messages(app, filter, all()).await.unwrap();
    assert!(left.data.is_empty());
}
