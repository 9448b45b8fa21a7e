//! Behind a proxy that gives each transaction another connection.

use hookbox_testkit::{Answer, Database, Service, Sink, sign};
use serde_json::json;

use super::load::{Load, Plan, prepare};
use super::tally::Tally;
use super::{node, nodes, settled};
use crate::given;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_depends_on_the_session() {
    const MESSAGES: usize = 1_000;
    let database = Database::postgres().await;
    let bouncer = Service::bouncer(&database).await;
    let sink = Sink::start().await;
    let behind = node(&database).on(&database.url_by(bouncer.address()));
    let nodes = nodes(behind, 2).await;
    let plan = Plan {
        times: 2,
        ..Plan::of(MESSAGES)
    };
    prepare(&nodes[0].client(), &plan.applications, |path| {
        sink.url(path)
    })
    .await;
    let ledger = Load::start(&nodes, plan).end().await;
    assert_eq!(ledger.len(), MESSAGES);
    let tally = Tally::complete(&sink, &ledger, &database).await;
    assert_eq!(tally.repeats(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn both_paths_work_from_end_to_end() {
    let database = Database::postgres().await;
    let bouncer = Service::bouncer(&database).await;
    let sink = Sink::start().await;
    let behind = node(&database)
        .on(&database.url_by(bouncer.address()))
        .env("HOOKBOX_RETRY_SCHEDULE", "50ms");
    let nodes = nodes(behind, 2).await;
    let (one, other) = (nodes[0].client(), nodes[1].client());
    prepare(&one, ["acme"], |path| sink.url(path)).await;

    let event = sign::stripe_event("evt_1");
    other.event("stripe", &event).await.expect(200);
    let again = one.event("stripe", &event).await.expect(200);
    assert_eq!(again["duplicate"], json!(true));
    assert_eq!(sink.wait_for(1).await[0].body, event.body);

    // Tried, tried again, given up, and sent again when asked.
    sink.script([Answer::from(500), Answer::from(500)]);
    let id = given::message(&other, "acme", &json!({"id": "out_1"})).await;
    sink.wait_for(3).await;
    settled(&database).await;
    let dead = given::all(&one, "/api/v1/app/acme/dead").await;
    assert_eq!(dead.len(), 1, "{dead:?}");
    let replay = json!({"messageId": id});
    let replayed = other.post("/api/v1/app/acme/dead/replay", &replay).await;
    assert!(replayed.status.is_success(), "{replayed:?}");
    sink.wait_for(4).await;
    settled(&database).await;
    let attempts = given::all(&one, &format!("/api/v1/app/acme/msg/{id}/attempt")).await;
    assert_eq!(attempts.len(), 3);
}
