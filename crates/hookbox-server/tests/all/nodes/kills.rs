//! `kill -9` of random nodes under load.

use hookbox_testkit::{Database, Sink};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use super::load::{Load, Plan, prepare};
use super::tally::{Tally, say};
use super::{node, nodes};

const NODES: usize = 3;
const KILLS: usize = 6;
const MESSAGES: usize = 4_000;
/// Deliveries that a node holds at most, tried and not yet written: 128 for each of two endpoints.
const HELD: usize = 2 * 128;

#[tokio::test(flavor = "multi_thread")]
async fn every_accepted_message_arrives_whichever_node_is_killed() {
    // Both wait for leases to end, so they wait together.
    let (postgres, mysql) = (Database::postgres().await, Database::mysql().await);
    tokio::join!(kill(&postgres), kill(&mysql));
}

async fn kill(database: &Database) {
    let kind = database.kind();
    let seed: u64 = rand::random();
    say(&format!("nodes, kill -9, {kind:?}: seed {seed}"));
    let mut dice = StdRng::seed_from_u64(seed);
    let sink = Sink::start().await;
    let mut nodes = nodes(node(database), NODES).await;
    let plan = Plan::of(MESSAGES);
    prepare(&nodes[0].client(), &plan.applications, |path| {
        sink.url(path)
    })
    .await;
    let mut load = Load::start(&nodes, plan);
    for _ in 0..KILLS {
        let wait = dice.random_range(1..MESSAGES / KILLS);
        assert!(load.taken(wait).await, "there is load at every kill");
        let node = dice.random_range(0..NODES);
        nodes[node].kill9().await;
        nodes[node].restart().await;
    }
    let ledger = load.end().await;
    assert_eq!(ledger.len(), MESSAGES);
    let tally = Tally::complete(&sink, &ledger, database).await;
    let repeats = tally.repeats();
    say(&format!(
        "nodes, kill -9, {kind:?}: {KILLS} kills, {MESSAGES} accepted and arrived, {repeats} repeats"
    ));
    assert!(repeats <= KILLS * HELD, "{repeats} repeats");
}
