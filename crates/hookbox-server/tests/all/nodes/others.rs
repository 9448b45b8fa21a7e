//! Somebody else uses the same database, and takes their time.

use hookbox_testkit::{Database, Sink};
use serde_json::json;

use super::load::{Load, Plan, event, prepare};
use super::tally::Tally;
use super::{given, node, nodes, settled};

#[tokio::test(flavor = "multi_thread")]
async fn a_long_transaction_of_somebody_else_is_in_nobodys_way() {
    const MESSAGES: usize = 2_000;
    let database = Database::postgres().await;
    let sink = Sink::start().await;
    let nodes = nodes(node(&database), 2).await;
    let plan = Plan::of(MESSAGES);
    prepare(&nodes[0].client(), &plan.applications, |path| {
        sink.url(path)
    })
    .await;
    // It has read the queue, holds back the clean-up of dead rows, and says nothing any more.
    let other = database.session().await;
    let look = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id(); \
                SELECT count(*) FROM hookbox.delivery";
    other.batch_execute(look).await.expect("it reads");
    let ledger = Load::start(&nodes, plan).end().await;
    let tally = Tally::complete(&sink, &ledger, &database).await;
    assert_eq!((ledger.len(), tally.repeats()), (MESSAGES, 0));
    other
        .batch_execute("COMMIT")
        .await
        .expect("it is still there");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_whose_doors_are_locked_is_not_ready() {
    let database = Database::postgres().await;
    let server = node(&database).start().await;
    let other = database.session().await;
    for table in ["message", "receipt", "delivery"] {
        let lock = format!("BEGIN; LOCK TABLE hookbox.{table} IN ACCESS EXCLUSIVE MODE");
        other.batch_execute(&lock).await.expect("it locks");
        let ready = server.stranger().get("/readyz").await;
        assert_eq!(ready.status, 503, "{table}: {ready:?}");
        assert_eq!(server.stranger().get("/livez").await.status, 200);
        other.batch_execute("ROLLBACK").await.expect("it is there");
        hookbox_testkit::clock::eventually("it is ready again", || async {
            (server.stranger().get("/readyz").await.status == 200).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_hang_hold_up_no_door_and_no_delivery() {
    const PAGES: usize = 40;
    const CONNECTIONS: i64 = 8;
    let database = Database::postgres().await;
    let sink = Sink::start().await;
    let server = node(&database).start().await;
    prepare(&server.client(), ["acme"], |path| sink.url(path)).await;
    let other = database.session().await;
    let lock = "BEGIN; LOCK TABLE hookbox.event_type IN ACCESS EXCLUSIVE MODE";
    other.batch_execute(lock).await.expect("it locks");
    let mut pages = tokio::task::JoinSet::new();
    for _ in 0..PAGES {
        let client = server.client();
        pages.spawn(async move { client.get("/api/v1/event-type").await.status });
    }
    let waiting = "SELECT count(*) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    hookbox_testkit::clock::eventually("every connection for pages waits", || async {
        (database.number(waiting).await == CONNECTIONS).then_some(())
    })
    .await;
    server
        .stranger()
        .event("stripe", &event("evt_1"))
        .await
        .expect(200);
    given::message(&server.client(), "acme", &json!({"id": "out_1"})).await;
    sink.wait_for(2).await;
    other.batch_execute("ROLLBACK").await.expect("it is there");
    while let Some(status) = pages.join_next().await {
        let status = status.expect("a page ends");
        assert!(status == 200 || status == 503, "{status}");
    }
    settled(&database).await;
}
