//! The database ends connections in the middle of whatever they do.

use std::collections::HashSet;

use hookbox_testkit::{Database, Server, Sink};
use serde_json::json;
use tokio::task::JoinSet;

use super::load::{Load, Plan, prepare};
use super::tally::{Tally, say};
use super::{node, nodes, on_both};

const MESSAGES: usize = 2_000;
const CUTS: usize = 20;

on_both!(a_connection_that_is_ended_loses_and_doubles_nothing);

async fn a_connection_that_is_ended_loses_and_doubles_nothing(database: &Database) {
    let sink = Sink::start().await;
    let nodes = nodes(node(database), 2).await;
    // Two senders are at each message at the same time: when the transaction of one is taken back, the other waits
    // for the same keys.
    let plan = Plan {
        times: 2,
        ..Plan::of(MESSAGES)
    };
    prepare(&nodes[0].client(), &plan.applications, |path| {
        sink.url(path)
    })
    .await;
    let mut load = Load::start(&nodes, plan);
    for _ in 0..CUTS {
        assert!(
            load.taken(2 * MESSAGES / CUTS - 10).await,
            "there is load at every cut"
        );
        database
            .end_connections()
            .await
            .expect("connections can be ended");
    }
    let ledger = load.end().await;
    assert_eq!(ledger.len(), MESSAGES);
    let tally = Tally::complete(&sink, &ledger, database).await;
    say(&format!(
        "nodes, connections ended {CUTS} times, {:?}: {MESSAGES} accepted and arrived, {} repeats",
        database.kind(),
        tally.repeats()
    ));
}

on_both!(a_request_without_a_key_is_recorded_once_at_most);

async fn a_request_without_a_key_is_recorded_once_at_most(database: &Database) {
    let sink = Sink::start().await;
    let nodes = nodes(node(database), 2).await;
    super::given::endpoint(&nodes[0].client(), "acme", &sink.url("/")).await;
    let mut accepted = HashSet::new();
    let mut refused = 0;
    for round in 0..CUTS {
        let mut requests = post(&nodes, round);
        database
            .end_connections()
            .await
            .expect("connections can be ended");
        while let Some(done) = requests.join_next().await {
            match done.expect("a request ends") {
                (name, true) => _ = accepted.insert(name),
                (_, false) => refused += 1,
            }
        }
    }
    let mut tally = Tally::default();
    hookbox_testkit::clock::eventually("every accepted message arrives", || {
        tally.look(&sink);
        let complete = accepted.iter().all(|name| tally.arrived.contains_key(name));
        async move { complete.then_some(()) }
    })
    .await;
    super::settled(database).await;
    tally.look(&sink);
    // Each name was sent in one request, and the tally lets none come under two ids.
    let recorded = database.number("SELECT count(*) FROM message").await;
    assert_eq!(usize::try_from(recorded), Ok(tally.arrived.len()));
    assert!(
        accepted.len() > CUTS,
        "{} accepted is no load",
        accepted.len()
    );
    say(&format!(
        "nodes, requests without a key, {:?}: {} answered 2xx, {refused} not, {recorded} recorded",
        database.kind(),
        accepted.len()
    ));
}

/// Sends messages that nothing tells from others; each says whether it was answered 2xx.
fn post(nodes: &[Server], round: usize) -> JoinSet<(String, bool)> {
    let mut requests = JoinSet::new();
    for number in 0..32 {
        let client = nodes[number % nodes.len()].client();
        let name = format!("bare_{round}_{number}");
        requests.spawn(async move {
            let new = json!({"eventType": "a.b", "payload": {"id": name}});
            let reply = client.post("/api/v1/app/acme/msg", &new).await;
            assert!(reply.status == 202 || reply.status == 503, "{reply:?}");
            (name, reply.status == 202)
        });
    }
    requests
}
