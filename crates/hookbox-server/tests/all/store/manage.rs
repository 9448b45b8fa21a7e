//! Applications, endpoints, event types, sources and tokens.

use hookbox_server::model::{EventType, Secret, TokenId};
use hookbox_server::store::{Error, SourceDraft, Store, Token};

use super::database::{NOW, TestDatabase, all, application, endpoint};
use super::on_every_database;

on_every_database!(
    a_uid_is_one_applications,
    a_change_that_fails_changes_nothing,
    an_endpoint_belongs_to_its_application,
    an_endpoint_wants_only_types_that_exist,
    secrets_and_headers_come_back,
    the_nth_address_of_a_source_stays_one_endpoint,
    a_source_of_the_file_is_changed_only_there,
    a_source_that_is_closed_is_gone_at_once,
    a_token_is_known_until_it_is_revoked,
    a_name_taken_on_two_nodes_at_once_is_one_of_theirs,
);

pub(crate) async fn event_type(store: &dyn Store, name: &str) {
    let new = EventType {
        name: name.to_owned(),
        description: String::new(),
        archived: false,
        deprecated: false,
        schemas: None,
        feature_flags: Vec::new(),
        group_name: None,
        created_at: NOW,
        updated_at: NOW,
    };
    store.create_event_type(new, None).await.unwrap();
}

async fn a_uid_is_one_applications(db: &TestDatabase) {
    let first = db.application("a").await;
    assert!(matches!(
        db.store().create_application(application("a"), None).await,
        Err(Error::Conflict(_))
    ));
    let rename = |uid: &str| {
        let uid = Some(uid.to_owned());
        Box::new(move |app: &mut hookbox_server::model::Application| {
            app.uid.clone_from(&uid);
            Ok(())
        })
    };
    db.application("b").await;
    assert!(matches!(
        db.store().change_application("b", rename("a")).await,
        Err(Error::Conflict(_))
    ));
    db.store().delete_application(first, NOW).await.unwrap();
    assert_eq!(
        db.store().application("a").await,
        Err(Error::NotFound("application"))
    );
    assert_eq!(
        db.store().delete_application(first, NOW).await,
        Err(Error::NotFound("application"))
    );
    assert!(
        db.store()
            .change_application("b", rename("a"))
            .await
            .is_ok()
    );
}

async fn a_change_that_fails_changes_nothing(db: &TestDatabase) {
    let id = db.application("a").await;
    let change = Box::new(|app: &mut hookbox_server::model::Application| {
        app.name = "changed".to_owned();
        Err(Error::Conflict("no"))
    });
    assert_eq!(
        db.store().change_application("a", change).await,
        Err(Error::Conflict("no"))
    );
    assert_eq!(
        db.store().application(&id.to_string()).await.unwrap().name,
        "a"
    );
}

async fn an_endpoint_belongs_to_its_application(db: &TestDatabase) {
    let (a, b) = (db.application("a").await, db.application("b").await);
    let id = db
        .endpoint(a, |new| new.uid = Some("mine".to_owned()))
        .await;
    for key in [id.to_string(), "mine".to_owned()] {
        assert_eq!(db.store().endpoint(a, &key).await.unwrap().id, id);
        assert_eq!(
            db.store().endpoint(b, &key).await,
            Err(Error::NotFound("endpoint"))
        );
    }
    let mut same = endpoint(a);
    same.uid = Some("mine".to_owned());
    assert!(matches!(
        db.store().create_endpoint(same.clone(), None).await,
        Err(Error::Conflict(_))
    ));
    same.application_id = b;
    assert_eq!(db.store().create_endpoint(same, None).await, Ok(()));
}

async fn an_endpoint_wants_only_types_that_exist(db: &TestDatabase) {
    let app = db.application("a").await;
    event_type(&*db.store(), "known").await;
    let mut new = endpoint(app);
    new.event_types = Some(vec!["known".to_owned(), "unknown".to_owned()]);
    let refused = db.store().create_endpoint(new.clone(), None).await;
    assert_eq!(
        refused,
        Err(Error::UnknownEventTypes(vec!["unknown".to_owned()]))
    );
    new.event_types = Some(vec!["known".to_owned()]);
    assert_eq!(db.store().create_endpoint(new, None).await, Ok(()));
}

async fn secrets_and_headers_come_back(db: &TestDatabase) {
    let app = db.application("a").await;
    let mut new = endpoint(app);
    new.headers = vec![("authorization".to_owned(), Secret::new("Bearer x"))];
    new.retry_schedule = Some("1s,2m".parse().unwrap());
    db.store().create_endpoint(new.clone(), None).await.unwrap();
    db.reopen().await;
    assert_eq!(db.store().endpoint(app, &new.id.to_string()).await, Ok(new));
}

fn source(forward: &[&str]) -> SourceDraft {
    SourceDraft {
        name: "s".to_owned(),
        application_uid: "default".to_owned(),
        provider: "stripe".to_owned(),
        secrets: vec![Secret::new("x")],
        rules: hookbox_server::model::source::Rules::default(),
        forward: forward.iter().map(|url| (*url).to_owned()).collect(),
        from_file: false,
    }
}

async fn the_nth_address_of_a_source_stays_one_endpoint(db: &TestDatabase) {
    let put = |urls: &'static [&'static str]| {
        let store = db.store();
        async move {
            let app = store
                .put_source(source(urls), true, NOW, None)
                .await
                .unwrap()
                .application_id;
            let endpoints = store.endpoints(app, all()).await.unwrap().data;
            endpoints
                .into_iter()
                .map(|endpoint| (endpoint.url, endpoint.id))
                .collect::<Vec<_>>()
        }
    };
    let first = put(&["http://a/", "http://b/"]).await;
    assert_eq!(put(&["http://a/", "http://b/"]).await, first);
    let second = put(&["http://new/", "http://b/"]).await;
    assert_eq!((second[0].1, &second[1]), (first[0].1, &first[1]));
    assert_eq!(put(&["http://new/"]).await, second[..1]);
}

async fn a_source_of_the_file_is_changed_only_there(db: &TestDatabase) {
    let mut file = source(&[]);
    file.from_file = true;
    db.store()
        .put_source(file.clone(), true, NOW, None)
        .await
        .unwrap();
    for replace in [true, false] {
        assert!(matches!(
            db.store().put_source(source(&[]), replace, NOW, None).await,
            Err(Error::Conflict(_))
        ));
    }
    assert!(db.store().put_source(file, true, NOW, None).await.is_ok());
}

async fn a_source_that_is_closed_is_gone_at_once(db: &TestDatabase) {
    let id = db
        .store()
        .put_source(source(&["http://a/"]), false, NOW, None)
        .await
        .unwrap()
        .id;
    let app = db.store().source("s").await.unwrap().application_id;
    assert!(matches!(
        db.store().delete_application(app, NOW).await,
        Err(Error::Conflict(_))
    ));
    db.store().delete_source(id, NOW).await.unwrap();
    assert_eq!(db.store().source("s").await, Err(Error::NotFound("source")));
    assert!(
        db.store()
            .endpoints(app, all())
            .await
            .unwrap()
            .data
            .is_empty()
    );
    assert_eq!(
        db.store().delete_source(id, NOW).await,
        Err(Error::NotFound("source"))
    );
    assert!(db.store().delete_application(app, NOW).await.is_ok());
}

async fn a_token_is_known_until_it_is_revoked(db: &TestDatabase) {
    let new = Token {
        id: TokenId::new(NOW),
        name: "x".to_owned(),
        digest: [1; 32],
        created_at: NOW,
    };
    db.store().create_token(new.clone()).await.unwrap();
    assert_eq!(db.store().token([1; 32]).await, Ok(new.clone()));
    db.reopen().await;
    assert_eq!(db.store().token([1; 32]).await, Ok(new.clone()));
    assert_eq!(
        db.store().token([2; 32]).await,
        Err(Error::NotFound("token"))
    );
    db.store().revoke_token(new.id).await.unwrap();
    assert_eq!(
        db.store().token([1; 32]).await,
        Err(Error::NotFound("token"))
    );
    assert_eq!(
        db.store().revoke_token(new.id).await,
        Err(Error::NotFound("token"))
    );
}

/// One of two is told that it is theirs, and it is; the other that it is taken, or that it replaced the first.
async fn a_name_taken_on_two_nodes_at_once_is_one_of_theirs(db: &TestDatabase) {
    let nodes = db.nodes(2).await;
    let app = db.application("owner").await;
    for round in 0..10 {
        let uid = format!("u{round}");
        let mut new = [application(&uid), application(&uid)];
        for (number, new) in new.iter_mut().enumerate() {
            new.name = number.to_string();
        }
        let [one, other] = new.clone();
        let made = tokio::join!(
            nodes[0].create_application(one, None),
            nodes[1].create_application(other, None)
        );
        let kept = db.store().application(&uid).await.unwrap();
        let winner = new.iter().position(|new| new.id == kept.id).unwrap();
        assert_eq!(kept.name, new[winner].name);
        let lost = if winner == 0 { made.1 } else { made.0 };
        assert!(matches!(lost, Err(Error::Conflict(_))), "{lost:?}");

        let mut new = [endpoint(app), endpoint(app)];
        for new in &mut new {
            new.uid = Some(uid.clone());
        }
        let [one, other] = new.clone();
        let made = tokio::join!(
            nodes[0].create_endpoint(one, None),
            nodes[1].create_endpoint(other, None)
        );
        assert!(made.0.is_ok() != made.1.is_ok(), "{made:?}");
        let kept = db.store().endpoint(app, &uid).await.unwrap();
        let winner = new.iter().find(|new| new.id == kept.id).unwrap();
        assert_eq!(kept.secrets, winner.secrets);

        let mut drafts = [source(&["http://a/"]), source(&["http://b/"])];
        for draft in &mut drafts {
            draft.name.clone_from(&uid);
            draft.application_uid = format!("made for {uid}");
        }
        let [one, other] = drafts;
        let made = tokio::join!(
            nodes[0].put_source(one, true, NOW, None),
            nodes[1].put_source(other, true, NOW, None)
        );
        let kept = db.store().source(&uid).await.unwrap();
        for made in [made.0, made.1] {
            assert_eq!(made.unwrap().id, kept.id);
        }
    }
}
