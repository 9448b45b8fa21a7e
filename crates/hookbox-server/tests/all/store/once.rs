//! Idempotency keys: one effect, one answer.

use hookbox_server::store::{Error, MessageFilter};

use super::database::{NOW, TestDatabase, all, application, draft, once};
use super::on_every_database;

on_every_database!(
    a_repeat_gets_the_first_answer,
    fifty_repeats_at_once_have_one_effect,
    an_old_key_is_taken_once_by_all_nodes_together,
    another_request_under_the_key_is_refused,
    a_change_that_failed_is_forgotten_with_its_key,
    a_key_is_forgotten_after_a_day,
);

async fn a_repeat_gets_the_first_answer(db: &TestDatabase) {
    let send = |uid: &str| {
        let (store, new) = (db.store(), application(uid));
        async move { store.create_application(new, Some(once(1, 1))).await }
    };
    assert_eq!(send("a").await, Ok(()));
    let answer = Error::Repeated {
        status: 202,
        body: b"the answer".to_vec(),
    };
    assert_eq!(send("b").await, Err(answer.clone()));
    db.reopen().await;
    let again = db
        .store()
        .create_application(application("b"), Some(once(1, 1)))
        .await;
    assert_eq!(again, Err(answer));
    assert_eq!(
        db.store().application("b").await,
        Err(Error::NotFound("application"))
    );
}

async fn fifty_repeats_at_once_have_one_effect(db: &TestDatabase) {
    let app = db.application("a").await;
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let store = db.store();
            let mut new = draft("a");
            new.once = Some(once(1, 1));
            tokio::spawn(async move { store.record(vec![new]).await })
        })
        .collect();
    let mut new = 0;
    for call in calls {
        match call.await.unwrap() {
            Ok(_) => new += 1,
            Err(error) => assert!(matches!(error, Error::Repeated { .. })),
        }
    }
    let stored = db
        .store()
        .messages(app, MessageFilter::default(), all())
        .await
        .unwrap()
        .data
        .len();
    assert_eq!((new, stored), (1, 1));
}

async fn another_request_under_the_key_is_refused(db: &TestDatabase) {
    db.store()
        .create_application(application("a"), Some(once(1, 1)))
        .await
        .unwrap();
    let other = db
        .store()
        .create_application(application("b"), Some(once(1, 2)))
        .await;
    assert_eq!(other, Err(Error::KeyReused));
    assert_eq!(
        db.store()
            .create_application(application("b"), Some(once(2, 2)))
            .await,
        Ok(())
    );
}

async fn a_change_that_failed_is_forgotten_with_its_key(db: &TestDatabase) {
    db.application("a").await;
    let taken = db
        .store()
        .create_application(application("a"), Some(once(1, 1)))
        .await;
    assert!(matches!(taken, Err(Error::Conflict(_))));
    assert_eq!(
        db.store()
            .create_application(application("b"), Some(once(1, 2)))
            .await,
        Ok(())
    );

    let mut lost = draft("nobody");
    lost.once = Some(once(3, 1));
    assert_eq!(
        db.store().record(vec![lost.clone()]).await,
        Err(Error::NotFound("application"))
    );
    db.application("nobody").await;
    assert!(db.store().record(vec![lost]).await.is_ok());
}

async fn a_key_is_forgotten_after_a_day(db: &TestDatabase) {
    db.store()
        .create_application(application("a"), Some(once(1, 1)))
        .await
        .unwrap();
    let mut later = once(1, 2);
    later.at = NOW.plus(std::time::Duration::from_hours(25));
    assert_eq!(
        db.store()
            .create_application(application("b"), Some(later))
            .await,
        Ok(())
    );
}

async fn an_old_key_is_taken_once_by_all_nodes_together(db: &TestDatabase) {
    db.application("a").await;
    let nodes = db.nodes(3).await;
    for round in 0..10 {
        let mut calls = Vec::new();
        for number in 0..30 {
            let store = nodes[number % nodes.len()].clone();
            let mut new = draft("a");
            let mut key = once(1, 1);
            // Each round comes when the key of the last one is no longer repeated.
            key.at = NOW.plus(std::time::Duration::from_hours(48) * round);
            new.once = Some(key);
            calls.push(tokio::spawn(async move { store.record(vec![new]).await }));
        }
        let mut new = 0;
        for call in calls {
            match call.await.unwrap() {
                Ok(_) => new += 1,
                Err(error) => assert!(matches!(error, Error::Repeated { .. }), "{error}"),
            }
        }
        assert_eq!(new, 1, "round {round}");
    }
}
