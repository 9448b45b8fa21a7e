//! The file of an `SQLite` database: who may open it, and what it gives away.

use std::time::Duration;

use hookbox_server::model::Secret;
use hookbox_server::store::sqlite::OpenError;

use hookbox_server::model::State;

use super::claim::{ROOMY, waiting};
use super::database::{NOW, TestDatabase, all, application, endpoint, event, once};

#[tokio::test]
async fn one_process_has_it() {
    let db = TestDatabase::sqlite().await;
    assert!(matches!(db.open_again(7), Some(OpenError::InUse(_))));
    db.close();
    assert!(db.open_again(7).is_none());
}

#[tokio::test]
async fn another_key_does_not_open_it() {
    let db = TestDatabase::sqlite().await;
    db.close();
    assert!(matches!(db.open_again(8), Some(OpenError::OtherKey)));
    assert!(db.open_again(7).is_none());
}

#[tokio::test]
async fn no_secret_stands_in_it() {
    let db = TestDatabase::sqlite().await;
    db.source("s", &[]).await;
    let mut kept = once(1, 1);
    kept.body = b"answer_canary".to_vec();
    db.store()
        .create_application(application("a"), Some(kept))
        .await
        .unwrap();
    let app = db.store().application("a").await.unwrap().id;
    let mut new = endpoint(app);
    new.secrets[0].key = Secret::new("whsec_endpoint_canary");
    new.headers = vec![("authorization".to_owned(), Secret::new("header_canary"))];
    db.store().create_endpoint(new, None).await.unwrap();
    for entry in std::fs::read_dir(db.folder()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(6).any(|window| window == b"canary"));
    }
    // What is not secret does stand there, so the search can find something.
    let bytes: Vec<u8> = ["test.db", "test.db-wal"]
        .iter()
        .flat_map(|name| std::fs::read(db.folder().join(name)).unwrap_or_default())
        .collect();
    assert!(bytes.windows(11).any(|window| window == b"example.com"));
}

#[tokio::test]
async fn a_clean_end_leaves_one_file_with_everything() {
    let db = TestDatabase::sqlite().await;
    db.application("a").await;
    db.close();
    assert!(!db.folder().join("test.db-wal").exists());
}

#[tokio::test]
async fn what_a_dead_process_held_is_due_when_the_next_one_starts() {
    let db = TestDatabase::sqlite().await;
    waiting(&db, ROOMY, 1, 3).await;
    db.store()
        .claim(NOW, NOW.plus(Duration::from_hours(24 * 365 * 100)))
        .await
        .unwrap();
    let message = db.handed_over()[0].message.id;
    db.reopen().await;
    let (delivery, _) = db.store().deliveries(message, all()).await.unwrap().data[0];
    assert!(matches!(delivery.state, State::Scheduled { .. }));
    assert_eq!(delivery.fence, 1);
}

/// Somebody looks into the file with a tool of theirs and forgets to end the transaction.
#[tokio::test]
async fn a_reader_that_stays_is_in_nobodys_way_and_the_log_is_used_anew_after_it() {
    const EACH: u32 = 200;
    let db = TestDatabase::sqlite().await;
    let source = db.source("s", &["http://127.0.0.1:1/"]).await;
    let path = db.folder().join("test.db");
    let log = || {
        std::fs::metadata(db.folder().join("test.db-wal"))
            .unwrap()
            .len()
    };
    let reader = rusqlite::Connection::open(&path).unwrap();
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM message")
        .unwrap();
    let record = async |from: u32| {
        for number in from..from + EACH {
            let mut event = event(source, &format!("evt_{number}"), 1);
            event.payload = vec![b'x'; 256 << 10].into();
            db.store().record(vec![event]).await.unwrap();
        }
    };
    // More than the log holds before it is brought into the file.
    record(0).await;
    let (held, seen) = (
        log(),
        reader.query_row("SELECT count(*) FROM message", [], |row| {
            row.get::<_, u32>(0)
        }),
    );
    assert_eq!(seen.unwrap(), 0, "it sees what it began with");
    reader.execute_batch("COMMIT").unwrap();
    record(EACH).await;
    record(2 * EACH).await;
    assert!(log() <= held + (16 << 20), "{held} before, {} after", log());
    let kept = rusqlite::Connection::open(&path).unwrap();
    let count = kept.query_row("SELECT count(*) FROM message", [], |row| {
        row.get::<_, u32>(0)
    });
    assert_eq!(count.unwrap(), 3 * EACH);
}
