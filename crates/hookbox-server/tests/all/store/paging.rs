//! Lists: every entry once, whatever the size of the page and the direction.

use hookbox_server::model::{MessageId, Time};
use hookbox_server::store::{MessageFilter, Page};

use super::database::{NOW, TestDatabase, all, draft};
use super::on_every_database;

on_every_database!(
    pages_of_every_size_show_every_entry_once,
    event_types_are_listed_by_name,
    a_filter_narrows_a_list,
);

async fn pages_of_every_size_show_every_entry_once(db: &TestDatabase) {
    let app = db.application("a").await;
    let drafts: Vec<_> = (0..7).map(|_| draft("a")).collect();
    let mut ids: Vec<MessageId> = drafts.iter().map(|draft| draft.id).collect();
    db.store().record(drafts).await.unwrap();
    for descending in [false, true] {
        for limit in 1..=8 {
            let mut seen = Vec::new();
            let mut page = Page {
                limit,
                after: None,
                backwards: false,
                descending,
            };
            loop {
                let listing = db
                    .store()
                    .messages(app, MessageFilter::default(), page.clone())
                    .await
                    .unwrap();
                assert!(listing.data.len() <= usize::try_from(limit).unwrap());
                seen.extend(listing.data.iter().map(|message| message.id));
                page.after = seen.last().copied();
                if !listing.more {
                    break;
                }
            }
            assert_eq!(seen, ids);
            // And back again, from the last one.
            let mut back = vec![*seen.last().unwrap()];
            page.backwards = true;
            loop {
                page.after = back.first().copied();
                let listing = db
                    .store()
                    .messages(app, MessageFilter::default(), page.clone())
                    .await
                    .unwrap();
                back.splice(0..0, listing.data.iter().map(|message| message.id));
                if !listing.more {
                    break;
                }
            }
            assert_eq!(back, ids);
        }
        ids.reverse();
    }
}

async fn event_types_are_listed_by_name(db: &TestDatabase) {
    for name in ["b", "a", "c.d", "Z"] {
        super::manage::event_type(&*db.store(), name).await;
    }
    let names = |page| {
        let store = db.store();
        async move {
            let listing = store.event_types(page, false).await.unwrap().data;
            listing
                .into_iter()
                .map(|found| found.name)
                .collect::<Vec<_>>()
        }
    };
    assert_eq!(names(all()).await, ["Z", "a", "b", "c.d"]);
    assert_eq!(
        names(Page {
            after: Some("a".to_owned()),
            ..all()
        })
        .await,
        ["b", "c.d"]
    );
    assert_eq!(
        names(Page {
            after: Some("b".to_owned()),
            backwards: true,
            ..all()
        })
        .await,
        ["Z", "a"]
    );
}

async fn a_filter_narrows_a_list(db: &TestDatabase) {
    let app = db.application("a").await;
    let mut ids = Vec::new();
    for n in 0..4_i64 {
        let mut new = draft("a");
        let at = Time(NOW.0 + n * 1000);
        // Made here, since ids made by this process never go back behind the latest.
        (new.id, new.created_at) = (MessageId::first_at(at), at);
        new.event_type = if n % 2 == 0 { "even" } else { "odd" }.to_owned();
        new.channels = if n == 3 {
            vec!["x".to_owned()]
        } else {
            Vec::new()
        };
        ids.push(new.id);
        db.store().record(vec![new]).await.unwrap();
    }
    let found = |filter| {
        let store = db.store();
        async move {
            let listing = store.messages(app, filter, all()).await.unwrap().data;
            listing
                .into_iter()
                .map(|message| message.id)
                .collect::<Vec<_>>()
        }
    };
    let none = MessageFilter::default;
    assert_eq!(
        found(MessageFilter {
            after: Some(NOW),
            ..none()
        })
        .await,
        ids[1..]
    );
    assert_eq!(
        found(MessageFilter {
            before: Some(Time(NOW.0 + 2000)),
            ..none()
        })
        .await,
        ids[..2]
    );
    assert_eq!(
        found(MessageFilter {
            event_types: Some(vec!["odd".into()]),
            ..none()
        })
        .await,
        [ids[1], ids[3]]
    );
    assert_eq!(
        found(MessageFilter {
            channel: Some("x".into()),
            ..none()
        })
        .await,
        [ids[3]]
    );
}
