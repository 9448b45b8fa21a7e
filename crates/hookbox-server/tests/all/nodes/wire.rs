//! What a node makes of a connection to its database that fails at the worst moment.

use std::time::{Duration, Instant};

use hookbox_testkit::clock::eventually;
use hookbox_testkit::database::Kind;
use hookbox_testkit::service::Stopped;
use hookbox_testkit::{Database, Fate, Service, Sink, Wire};
use serde_json::json;

use super::{given, node, on_both, settled};

/// A node looks once a second; a busy machine takes a little longer.
const AT_LAST: Duration = Duration::from_secs(5);
const COUNT: &str = "SELECT count(*) FROM message";

on_both!(a_commit_whose_answer_is_lost_is_looked_up);

async fn a_commit_whose_answer_is_lost_is_looked_up(database: &Database) {
    let answer = match database.kind() {
        // What comes back before it is about the rows.
        Kind::Postgres => "COMMIT",
        Kind::Mysql => "",
    };
    commit_is_cut(database, Fate::LosesAnswer(answer)).await;
}

on_both!(a_commit_that_never_reached_the_database_is_made_again);

async fn a_commit_that_never_reached_the_database_is_made_again(database: &Database) {
    commit_is_cut(database, Fate::LosesRequest).await;
}

/// The caller is told that it is recorded, and it is: once.
async fn commit_is_cut(database: &Database, fate: Fate) {
    let sink = Sink::start().await;
    let wire = Wire::to(database.address()).await;
    let server = node(database)
        .on(&database.url_by(wire.address()))
        .start()
        .await;
    given::endpoint(&server.client(), "acme", &sink.url("/")).await;
    wire.trap(&["the-marked-one", "COMMIT"], fate);
    let new = json!({"eventType": "a.b", "payload": {"id": "the-marked-one"}});
    server
        .client()
        .post("/api/v1/app/acme/msg", &new)
        .await
        .expect(202);
    assert!(wire.is_sprung(), "the commit was cut");
    sink.wait_for(1).await;
    settled(database).await;
    assert_eq!((database.number(COUNT).await, sink.count()), (1, 1));
}

/// The connection is lost while the commit waits for somebody's lock: looked up, it is not there yet, and the next try
/// meets its rows.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_is_slower_than_its_look_up_is_not_made_twice() {
    let database = Database::postgres().await;
    let sink = Sink::start().await;
    let wire = Wire::to(database.address()).await;
    let server = node(&database)
        .on(&database.url_by(wire.address()))
        .start()
        .await;
    given::endpoint(&server.client(), "acme", &sink.url("/")).await;
    wire.trap(&["the-marked-one", "COMMIT"], Fate::LosesConnection);
    let other = database.session().await;
    let lock = "BEGIN; LOCK TABLE hookbox.message IN SHARE MODE";
    other.batch_execute(lock).await.expect("it locks");
    let client = server.client();
    let asked = tokio::spawn(async move {
        // A name of its own must not look like somebody else's.
        let new =
            json!({"eventType": "a.b", "eventId": "one", "payload": {"id": "the-marked-one"}});
        client.post("/api/v1/app/acme/msg", &new).await
    });
    let waiting = "SELECT count(*) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    eventually("the first try and the second wait", || async {
        (database.number(waiting).await == 2).then_some(())
    })
    .await;
    other.batch_execute("ROLLBACK").await.expect("it is there");
    asked.await.expect("an answer").expect(202);
    sink.wait_for(1).await;
    settled(&database).await;
    assert_eq!((database.number(COUNT).await, sink.count()), (1, 1));
}

/// The process of the server that would tell it is stopped: nothing comes, and nothing says so.
#[tokio::test(flavor = "multi_thread")]
async fn a_wake_up_that_hangs_is_made_up_for_by_looking() {
    let service = Service::postgres().await;
    let database = Database::of(&service).await;
    let sink = Sink::start().await;
    let sends = node(&database).env("HOOKBOX_ROLE", "engine,upkeep");
    let sends = sends.start().await;
    let listens = "SELECT coalesce(max(pid), 0)::int8 FROM pg_stat_activity \
                   WHERE query LIKE 'LISTEN%' AND datname = current_database()";
    let pid = eventually("it listens", || async {
        Some(database.number(listens).await).filter(|pid| *pid > 0)
    })
    .await;
    let takes = sends.setup().node().env("HOOKBOX_ROLE", "doors,api");
    let takes = takes.start().await;
    given::endpoint(&takes.client(), "acme", &sink.url("/")).await;
    let stopped = Stopped::process(pid);
    for number in 1..=3 {
        let new = json!({"id": format!("out_{number}")});
        let began = Instant::now();
        given::message(&takes.client(), "acme", &new).await;
        sink.wait_for(number).await;
        assert!(began.elapsed() < AT_LAST, "{:?}", began.elapsed());
    }
    settled(&database).await;
    assert_eq!(sink.count(), 3);
    drop(stopped);
}
