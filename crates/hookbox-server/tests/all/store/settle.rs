//! Settling: by the holder of the latest lease, and by nobody else.

use std::time::Duration;

use hookbox_server::model::delivery::{Cause, Delivery, State};
use hookbox_server::model::endpoint::Disabled;
use hookbox_server::model::{Attempt, AttemptId, Time};
use hookbox_server::store::handoff::Limits;
use hookbox_server::store::{AttemptFilter, Settlement, Work};

use super::database::{NOW, TestDatabase, all, draft};
use super::on_every_database;

on_every_database!(
    a_result_moves_its_delivery_and_is_history,
    a_second_result_of_the_same_lease_is_late,
    whoever_lost_the_lease_changes_nothing,
    a_receiver_that_is_gone_disables_its_endpoint_and_holds_the_rest,
    a_result_of_a_deleted_endpoint_is_late,
);

/// A database with one delivery that this node holds.
async fn held(db: &TestDatabase) -> Work {
    db.with_room(Limits {
        slots: 10,
        bytes: 1 << 20,
        application: 10,
        in_flight: 10,
        lane: 10,
    })
    .await;
    let store = db.store();
    if store.application("a").await.is_err() {
        let app = db.application("a").await;
        db.endpoint(app, |_| {}).await;
    }
    store.record(vec![draft("a")]).await.unwrap();
    let work = db.handed_over().pop().unwrap();
    work
}

fn result(work: &Work, state: State) -> Settlement {
    let attempt = Attempt {
        id: AttemptId::new(NOW),
        message_id: work.message.id,
        endpoint_id: work.endpoint.id,
        url: work.endpoint.url.clone(),
        at: NOW,
        duration_ms: 5,
        status: Some(500),
        response: b"\0<no> \xff".to_vec().into(),
        error: None,
        succeeded: state == State::Delivered,
        manual: false,
        late: false,
    };
    Settlement {
        delivery: Delivery {
            state,
            ..work.delivery
        },
        attempt: Some(attempt),
        endpoint_gone: false,
    }
}

async fn now(db: &TestDatabase, work: &Work) -> (Delivery, Vec<bool>) {
    let (delivery, _) = db
        .store()
        .deliveries(work.message.id, all())
        .await
        .unwrap()
        .data[0];
    let filter = AttemptFilter {
        message: Some(work.message.id),
        ..AttemptFilter::default()
    };
    let attempts = db
        .store()
        .attempts(work.message.application_id, filter, all())
        .await
        .unwrap()
        .data;
    (
        delivery,
        attempts.iter().map(|attempt| attempt.late).collect(),
    )
}

async fn a_result_moves_its_delivery_and_is_history(db: &TestDatabase) {
    for state in [
        State::Delivered,
        State::Scheduled {
            at: Time(NOW.0 + 5000),
        },
        State::Dead {
            cause: Cause::Exhausted,
        },
        State::Dead {
            cause: Cause::Refused,
        },
    ] {
        let work = held(db).await;
        let settlement = result(&work, state);
        assert_eq!(
            db.store().settle(vec![settlement.clone()]).await,
            Ok(vec![true])
        );
        let (delivery, late) = now(db, &work).await;
        assert_eq!((delivery.state, late), (state, vec![false]));
        let attempt = settlement.attempt.unwrap();
        assert_eq!(
            db.store().attempt(work.message.id, attempt.id).await,
            Ok(attempt)
        );
    }
}

async fn a_second_result_of_the_same_lease_is_late(db: &TestDatabase) {
    let work = held(db).await;
    db.store()
        .settle(vec![result(&work, State::Delivered)])
        .await
        .unwrap();
    let again = db
        .store()
        .settle(vec![result(
            &work,
            State::Dead {
                cause: Cause::Exhausted,
            },
        )])
        .await;
    assert_eq!(again, Ok(vec![false]));
    let (delivery, late) = now(db, &work).await;
    assert_eq!(
        (delivery.state, late),
        (State::Delivered, vec![false, true])
    );
}

async fn whoever_lost_the_lease_changes_nothing(db: &TestDatabase) {
    let work = held(db).await;
    let after = work.delivery.state.due().unwrap();
    db.store()
        .claim(after, after.plus(Duration::from_secs(60)))
        .await
        .unwrap();
    assert_eq!(
        db.store()
            .settle(vec![result(&work, State::Delivered)])
            .await,
        Ok(vec![false])
    );
    let (delivery, late) = now(db, &work).await;
    assert!(matches!(delivery.state, State::Leased { .. }));
    assert_eq!((delivery.fence, late), (2, vec![true]));
    let second = db.handed_over().pop().unwrap();
    assert_eq!(
        db.store()
            .settle(vec![result(&second, State::Delivered)])
            .await,
        Ok(vec![true])
    );
}

async fn a_receiver_that_is_gone_disables_its_endpoint_and_holds_the_rest(db: &TestDatabase) {
    let work = held(db).await;
    let waiting = draft("a");
    db.handoff().close();
    db.store().record(vec![waiting.clone()]).await.unwrap();
    let gone = Settlement {
        endpoint_gone: true,
        ..result(&work, State::Dead { cause: Cause::Gone })
    };
    db.store().settle(vec![gone]).await.unwrap();
    let (delivery, endpoint) = db
        .store()
        .deliveries(waiting.id, all())
        .await
        .unwrap()
        .data
        .remove(0);
    assert_eq!(
        (delivery.state, endpoint.disabled),
        (State::Held, Some(Disabled::Gone))
    );
}

async fn a_result_of_a_deleted_endpoint_is_late(db: &TestDatabase) {
    let work = held(db).await;
    db.store()
        .delete_endpoint(work.endpoint.id, NOW)
        .await
        .unwrap();
    assert_eq!(
        db.store()
            .settle(vec![result(&work, State::Delivered)])
            .await,
        Ok(vec![false])
    );
    let (delivery, late) = now(db, &work).await;
    assert_eq!((delivery.state, late), (State::Cancelled, vec![true]));
}
