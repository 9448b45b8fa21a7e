//! Moving deliveries by hand and by their endpoint: the SQL agrees with the rule.

use hookbox_server::model::delivery::{Cause, Delivery, Event, State};
use hookbox_server::model::endpoint::Disabled;
use hookbox_server::model::{Schedule, Time};
use hookbox_server::store::handoff::Limits;
use hookbox_server::store::{DeadFilter, DeadMove, Settlement};

use super::database::{NOW, TestDatabase, all, draft};
use super::on_every_database;

on_every_database!(
    an_endpoint_that_is_disabled_and_enabled,
    an_endpoint_that_is_deleted,
    an_application_that_is_deleted,
    a_message_that_is_sent_again,
    a_message_that_is_sent_to_one_who_never_got_it,
    dead_letters_are_listed_replayed_and_discarded,
);

const LATER: Time = Time(NOW.0 + 60_000);

/// A delivery in each state that is not held or cancelled, all to one endpoint.
async fn one_of_each(db: &TestDatabase) -> Vec<Delivery> {
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
    let states = [
        None,
        Some(State::Scheduled { at: LATER }),
        Some(State::Delivered),
        Some(State::Dead {
            cause: Cause::Exhausted,
        }),
        Some(State::Dead { cause: Cause::Gone }),
        Some(State::Dead {
            cause: Cause::Refused,
        }),
    ];
    let mut made = Vec::new();
    for state in states {
        db.store().record(vec![draft("a")]).await.unwrap();
        let delivery = db.handed_over().pop().unwrap().delivery;
        let after = Delivery {
            state: state.unwrap_or(delivery.state),
            failures: 2,
            ..delivery
        };
        if state.is_some() {
            let settlement = Settlement {
                delivery: after,
                attempt: None,
                endpoint_gone: false,
            };
            assert_eq!(db.store().settle(vec![settlement]).await, Ok(vec![true]));
            made.push(after);
        } else {
            made.push(delivery);
        }
    }
    made
}

async fn check(db: &TestDatabase, before: &[Delivery], event: Event, now: Time) {
    for before in before {
        let (found, _) = db
            .store()
            .deliveries(before.message_id, all())
            .await
            .unwrap()
            .data[0];
        let rule = before
            .after(event, now, 0.0, &Schedule::own_app())
            .unwrap_or(*before);
        assert_eq!(found, rule, "{event:?} of {before:?}");
    }
}

async fn set_disabled(
    db: &TestDatabase,
    deliveries: &[Delivery],
    disabled: Option<Disabled>,
    now: Time,
) {
    let change = Box::new(move |endpoint: &mut hookbox_server::model::Endpoint| {
        endpoint.disabled = disabled;
        Ok(())
    });
    db.store()
        .change_endpoint(deliveries[0].endpoint_id, now, change, None)
        .await
        .unwrap();
}

async fn an_endpoint_that_is_disabled_and_enabled(db: &TestDatabase) {
    let before = one_of_each(db).await;
    set_disabled(db, &before, Some(Disabled::ByUser), NOW).await;
    check(db, &before, Event::EndpointDisabled, NOW).await;
    let disabled: Vec<_> = before
        .iter()
        .map(|one| {
            one.after(Event::EndpointDisabled, NOW, 0.0, &Schedule::own_app())
                .unwrap()
        })
        .collect();
    set_disabled(db, &before, None, LATER).await;
    check(db, &disabled, Event::EndpointEnabled, LATER).await;
}

async fn an_endpoint_that_is_deleted(db: &TestDatabase) {
    let before = one_of_each(db).await;
    db.store()
        .delete_endpoint(before[0].endpoint_id, NOW)
        .await
        .unwrap();
    check(db, &before, Event::EndpointDeleted, NOW).await;
}

async fn an_application_that_is_deleted(db: &TestDatabase) {
    let before = one_of_each(db).await;
    let app = db.store().application("a").await.unwrap().id;
    db.store().delete_application(app, NOW).await.unwrap();
    check(db, &before, Event::EndpointDeleted, NOW).await;
}

async fn a_message_that_is_sent_again(db: &TestDatabase) {
    let before = one_of_each(db).await;
    for one in &before {
        db.store()
            .replay(one.message_id, one.endpoint_id, LATER, None)
            .await
            .unwrap();
    }
    check(db, &before, Event::Replayed, LATER).await;
}

async fn a_message_that_is_sent_to_one_who_never_got_it(db: &TestDatabase) {
    let before = one_of_each(db).await;
    let app = db.store().application("a").await.unwrap().id;
    let other = db.endpoint(app, |_| {}).await;
    db.store()
        .replay(before[0].message_id, other, NOW, None)
        .await
        .unwrap();
    let found = db
        .store()
        .deliveries(before[0].message_id, all())
        .await
        .unwrap()
        .data;
    let (delivery, _) = found
        .iter()
        .find(|(delivery, _)| delivery.endpoint_id == other)
        .unwrap();
    assert_eq!(
        (delivery.state, delivery.manual),
        (State::Scheduled { at: NOW }, true)
    );
}

async fn dead_letters_are_listed_replayed_and_discarded(db: &TestDatabase) {
    let before = one_of_each(db).await;
    let app = db.store().application("a").await.unwrap().id;
    let dead: Vec<_> = before
        .iter()
        .filter(|one| matches!(one.state, State::Dead { .. }))
        .copied()
        .collect();
    let listed = db
        .store()
        .dead(app, DeadFilter::default(), all())
        .await
        .unwrap()
        .data;
    assert_eq!(
        listed
            .iter()
            .map(|letter| letter.delivery)
            .collect::<Vec<_>>(),
        dead
    );

    let first = DeadFilter {
        message: Some(dead[0].message_id),
        endpoint: None,
    };
    assert_eq!(
        db.store()
            .move_dead(app, first, DeadMove::Replay, LATER)
            .await,
        Ok(1)
    );
    check(db, &dead[..1], Event::Replayed, LATER).await;
    let rest = DeadFilter {
        message: None,
        endpoint: Some(dead[0].endpoint_id),
    };
    assert_eq!(
        db.store()
            .move_dead(app, rest.clone(), DeadMove::Discard, LATER)
            .await,
        Ok(2)
    );
    check(db, &dead[1..], Event::Discarded, LATER).await;
    assert_eq!(
        db.store()
            .move_dead(app, rest, DeadMove::Replay, LATER)
            .await,
        Ok(0)
    );
    let elsewhere = db.application("b").await;
    assert!(
        db.store()
            .dead(elsewhere, DeadFilter::default(), all())
            .await
            .unwrap()
            .data
            .is_empty()
    );
}
