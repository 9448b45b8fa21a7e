//! What a node makes of a connection to its database that fails at the worst moment.

use hookbox_testkit::clock::eventually;
use hookbox_testkit::service::Stopped;
use hookbox_testkit::{Database, Fate, Service, Sink, Wire};
use serde_json::json;

use super::{given, node, on_both, settled};

const COUNT: &str = "SELECT count(*) FROM message";

on_both!(a_commit_whose_answer_is_lost_is_looked_up);

async fn a_commit_whose_answer_is_lost_is_looked_up(database: &Database) {
    commit_is_cut(database, Fate::LosesAnswer).await;
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
        given::message(&takes.client(), "acme", &new).await;
        sink.wait_for(number).await;
    }
    settled(&database).await;
    assert_eq!(sink.count(), 3);
    drop(stopped);
}
