//! Recording: whole, once, and for everyone who wants it.

use hookbox_server::model::State;
use hookbox_server::store::handoff::Limits;
use hookbox_server::store::{Error, MessageFilter, Recorded, Store};

use super::database::{NOW, TestDatabase, all, draft, event};
use super::{on_every_database, on_shared_databases};

on_every_database!(
    work_goes_straight_on_within_the_room_and_is_durable_by_then,
    work_is_handed_over_even_when_nobody_waits_for_the_answer,
    an_event_is_recorded_once,
    fifty_copies_at_once_are_one_event,
    other_bytes_under_a_known_id_are_kept_and_delivered_to_nobody,
    ids_differ_by_source_case_and_form,
    bytes_come_back_as_they_were,
    a_message_goes_to_those_who_want_it,
    an_endpoint_made_a_moment_ago_gets_it,
    a_taken_event_id_leaves_nothing,
    a_call_is_whole_and_alone,
    without_an_application_there_is_nothing,
);

// On SQLite its group is refused with it, and comes again.
on_shared_databases!(what_the_database_refuses_takes_no_other_with_it);

async fn messages(store: &dyn Store, application: &str) -> usize {
    let id = store.application(application).await.unwrap().id;
    store
        .messages(id, MessageFilter::default(), all())
        .await
        .unwrap()
        .data
        .len()
}

async fn an_event_is_recorded_once(db: &TestDatabase) {
    let source = db.source("s", &["http://127.0.0.1:1/"]).await;
    let first = event(source, "evt_1", 1);
    assert_eq!(
        db.store().record(vec![first.clone()]).await,
        Ok(vec![Recorded::New(first.id)])
    );
    for _ in 0..2 {
        let again = db.store().record(vec![event(source, "evt_1", 1)]).await;
        assert_eq!(again, Ok(vec![Recorded::Duplicate(first.id)]));
        db.reopen().await;
    }
    let receipts = db.store().receipts(source, all()).await.unwrap().data;
    assert_eq!(
        (receipts.len(), receipts[0].seen, receipts[0].message_id),
        (1, 3, first.id)
    );
    assert_eq!(messages(&*db.store(), "default").await, 1);
    assert_eq!(
        db.store()
            .deliveries(first.id, all())
            .await
            .unwrap()
            .data
            .len(),
        1
    );
}

async fn fifty_copies_at_once_are_one_event(db: &TestDatabase) {
    let source = db.source("s", &[]).await;
    let calls = (0..50).map(|_| {
        let store = db.store();
        tokio::spawn(async move { store.record(vec![event(source, "evt_1", 1)]).await.unwrap()[0] })
    });
    let mut new = 0;
    for call in calls.collect::<Vec<_>>() {
        new += usize::from(matches!(call.await.unwrap(), Recorded::New(_)));
    }
    assert_eq!((new, messages(&*db.store(), "default").await), (1, 1));
}

async fn other_bytes_under_a_known_id_are_kept_and_delivered_to_nobody(db: &TestDatabase) {
    let source = db.source("s", &["http://127.0.0.1:1/"]).await;
    db.store()
        .record(vec![event(source, "evt_1", 1)])
        .await
        .unwrap();
    let other = event(source, "evt_1", 2);
    assert_eq!(
        db.store().record(vec![other.clone()]).await,
        Ok(vec![Recorded::Quarantined(other.id)])
    );
    assert!(
        db.store()
            .deliveries(other.id, all())
            .await
            .unwrap()
            .data
            .is_empty()
    );
    let again = db.store().record(vec![event(source, "evt_1", 2)]).await;
    assert_eq!(again, Ok(vec![Recorded::Duplicate(other.id)]));
    let app = db.store().application("default").await.unwrap().id;
    assert!(
        db.store()
            .message(app, &other.id.to_string())
            .await
            .unwrap()
            .quarantined
    );
}

async fn ids_differ_by_source_case_and_form(db: &TestDatabase) {
    let (one, two) = (db.source("one", &[]).await, db.source("two", &[]).await);
    for draft in [
        event(one, "evt_A", 1),
        event(two, "evt_A", 1),
        event(one, "evt_a", 1),
        event(one, "evt_a ", 1),
        event(one, "\u{e9}", 1),
        event(one, "e\u{301}", 1),
        event(one, "'; DROP TABLE message; --", 1),
        event(one, &"x".repeat(1024), 1),
    ] {
        let id = draft.id;
        assert_eq!(
            db.store().record(vec![draft]).await,
            Ok(vec![Recorded::New(id)])
        );
    }
}

async fn bytes_come_back_as_they_were(db: &TestDatabase) {
    let app = db.application("a").await;
    let large = vec![0xa5; 5 * 1024 * 1024];
    for payload in [&b""[..], b"\0\xff\xfe raw \r\n", b"{\"a\": 10.00}", &large] {
        let mut new = draft("a");
        new.payload = payload.to_vec().into();
        new.headers = vec![
            ("x-a".to_owned(), b"1:2 \xff".to_vec()),
            ("x-a".to_owned(), Vec::new()),
        ];
        db.store().record(vec![new.clone()]).await.unwrap();
        let found = db.store().message(app, &new.id.to_string()).await.unwrap();
        assert_eq!((found.payload, found.headers), (new.payload, new.headers));
    }
}

async fn a_message_goes_to_those_who_want_it(db: &TestDatabase) {
    let app = db.application("a").await;
    let some = |words: &[&str]| {
        Some(
            words
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>(),
        )
    };
    for name in ["a.b", "c.d"] {
        super::manage::event_type(&*db.store(), name).await;
    }
    let every = db.endpoint(app, |_| {}).await;
    let typed = db
        .endpoint(app, |new| new.event_types = some(&["a.b"]))
        .await;
    let _other = db
        .endpoint(app, |new| new.event_types = some(&["c.d"]))
        .await;
    let channel = db
        .endpoint(app, |new| new.channels = some(&["x", "y"]))
        .await;
    let elsewhere = db.application("b").await;
    db.endpoint(elsewhere, |_| {}).await;
    let got = |id| {
        let store = db.store();
        async move {
            let listing = store.deliveries(id, all()).await.unwrap().data;
            listing
                .into_iter()
                .map(|(delivery, _)| delivery.endpoint_id)
                .collect::<Vec<_>>()
        }
    };
    let plain = draft("a");
    let mut in_channel = draft("a");
    in_channel.channels = vec!["y".to_owned()];
    for new in [&plain, &in_channel] {
        db.store().record(vec![new.clone()]).await.unwrap();
    }
    assert_eq!(got(plain.id).await, [every, typed]);
    assert_eq!(got(in_channel.id).await, [every, typed, channel]);
}

async fn an_endpoint_made_a_moment_ago_gets_it(db: &TestDatabase) {
    let app = db.application("a").await;
    for count in 0..5 {
        let new = draft("a");
        db.store().record(vec![new.clone()]).await.unwrap();
        assert_eq!(
            db.store()
                .deliveries(new.id, all())
                .await
                .unwrap()
                .data
                .len(),
            count
        );
        db.endpoint(app, |_| {}).await;
    }
}

async fn a_taken_event_id_leaves_nothing(db: &TestDatabase) {
    db.application("a").await;
    db.application("b").await;
    let named = |application| {
        let mut new = draft(application);
        new.event_id = Some("mine".to_owned());
        vec![new]
    };
    db.store().record(named("a")).await.unwrap();
    assert!(matches!(
        db.store().record(named("a")).await,
        Err(Error::Conflict(_))
    ));
    db.store().record(named("b")).await.unwrap();
    assert_eq!(messages(&*db.store(), "a").await, 1);
}

async fn a_call_is_whole_and_alone(db: &TestDatabase) {
    db.application("a").await;
    let calls: Vec<_> = (0..40)
        .map(|n| {
            let store = db.store();
            // Every second call ends with a draft that is refused.
            let second = draft(if n % 2 == 0 { "a" } else { "nobody" });
            tokio::spawn(async move { store.record(vec![draft("a"), second]).await.is_ok() })
        })
        .collect();
    let mut accepted = 0;
    for call in calls {
        accepted += usize::from(call.await.unwrap());
    }
    assert_eq!((accepted, messages(&*db.store(), "a").await), (20, 40));
}

async fn without_an_application_there_is_nothing(db: &TestDatabase) {
    assert_eq!(
        db.store().record(vec![draft("nobody")]).await,
        Err(Error::NotFound("application"))
    );
    assert_eq!(db.store().health().await, Ok(()));
}

async fn work_goes_straight_on_within_the_room_and_is_durable_by_then(db: &TestDatabase) {
    db.with_room(Limits {
        slots: 10,
        bytes: 1 << 20,
        application: 10,
        in_flight: 1,
        lane: 2,
    })
    .await;
    let app = db.application("a").await;
    db.endpoint(app, |_| {}).await;
    let drafts: Vec<_> = (0..4).map(|_| draft("a")).collect();
    db.store().record(drafts.clone()).await.unwrap();
    let work = db.handed_over();
    assert_eq!(work.len(), 2);
    for (n, new) in drafts.iter().enumerate() {
        let (delivery, _) = db.store().deliveries(new.id, all()).await.unwrap().data[0];
        match delivery.state {
            State::Leased { until } => assert!(n < 2 && until > NOW),
            State::Scheduled { at } => assert!(n >= 2 && at == NOW),
            other => panic!("{other:?}"),
        }
    }
}

async fn work_is_handed_over_even_when_nobody_waits_for_the_answer(db: &TestDatabase) {
    db.with_room(Limits {
        slots: 10,
        bytes: 1 << 20,
        application: 10,
        in_flight: 1,
        lane: 10,
    })
    .await;
    let app = db.application("a").await;
    db.endpoint(app, |_| {}).await;
    // Polled once, so that it is queued, and then forgotten.
    let store = db.store();
    let mut call = Box::pin(store.record(vec![draft("a")]));
    assert!(futures_util::poll!(call.as_mut()).is_pending());
    drop(call);
    // It is written, or nobody was told that it is and it is not.
    db.store().record(vec![draft("a")]).await.unwrap();
    let recorded = messages(&*db.store(), "a").await;
    assert_eq!(db.handed_over().len(), recorded);
}

async fn what_the_database_refuses_takes_no_other_with_it(db: &TestDatabase) {
    let source = db.source("s", &["http://127.0.0.1:1/"]).await;
    db.refuses_messages_of("poison").await;
    let calls = (0..30).map(|number| {
        let (store, mut one) = (db.store(), event(source, &format!("evt_{number}"), 1));
        if number % 10 == 5 {
            one.event_type = "poison".to_owned();
        }
        tokio::spawn(async move { (number, store.record(vec![one]).await) })
    });
    for call in calls.collect::<Vec<_>>() {
        let (number, answer) = call.await.unwrap();
        if number % 10 == 5 {
            assert!(answer.is_err(), "{number}: {answer:?}");
        } else {
            assert!(
                matches!(answer.as_deref(), Ok([Recorded::New(_)])),
                "{number}: {answer:?}"
            );
        }
    }
    assert_eq!(messages(&*db.store(), "default").await, 27);
    let receipts = db.store().receipts(source, all()).await.unwrap().data;
    assert_eq!(receipts.len(), 27, "what was refused left nothing");
}
