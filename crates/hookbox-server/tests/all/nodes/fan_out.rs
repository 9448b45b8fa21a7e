//! `kill -9` while messages go to several endpoints each, and while failed tries are put back into the queue.

use std::collections::HashSet;

use hookbox_testkit::{Answer, Database, Sink};

use super::load::{Load, Plan, prepare};
use super::tally::Tally;
use super::{node, nodes};
use crate::given;

const ENDPOINTS: usize = 3;
const MESSAGES: usize = 600;
const KILLS: usize = 3;
const FAILURES: usize = 300;

#[tokio::test(flavor = "multi_thread")]
async fn every_endpoint_of_a_message_gets_it_whichever_node_is_killed() {
    // Both wait for leases to end, so they wait together.
    let (postgres, mysql) = (Database::postgres().await, Database::mysql().await);
    tokio::join!(fan_out(&postgres), fan_out(&mysql));
}

async fn fan_out(database: &Database) {
    let sink = Sink::start().await;
    sink.script(vec![Answer::from(500); FAILURES]);
    let mut nodes = nodes(node(database), 2).await;
    let plan = Plan {
        senders: 8,
        ..Plan::of(MESSAGES)
    };
    prepare(&nodes[0].client(), &plan.applications, |path| {
        sink.url(path)
    })
    .await;
    for number in 1..ENDPOINTS {
        given::endpoint(&nodes[0].client(), "acme", &sink.url(&format!("/{number}"))).await;
    }
    let mut load = Load::start(&nodes, plan);
    for kill in 0..KILLS {
        assert!(load.taken(MESSAGES / (KILLS + 1)).await, "there is load");
        let node = kill % nodes.len();
        nodes[node].kill9().await;
        nodes[node].restart().await;
    }
    let ledger = load.end().await;
    Tally::complete(&sink, &ledger, database).await;
    // Half are events, which go to one endpoint.
    let deliveries = MESSAGES / 2 + MESSAGES / 2 * ENDPOINTS;
    let made = database.number("SELECT count(*) FROM settled").await;
    assert_eq!(
        usize::try_from(made),
        Ok(deliveries),
        "none missing, none double"
    );
    let arrived: HashSet<_> = sink
        .arrivals()
        .iter()
        .map(|arrival| {
            (
                arrival.header("webhook-id").to_owned(),
                arrival.path.clone(),
            )
        })
        .collect();
    assert_eq!(arrived.len(), deliveries);
}
