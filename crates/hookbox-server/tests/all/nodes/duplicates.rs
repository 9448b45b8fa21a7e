//! Ten duplicates of every event, in any order, at any node, across a restart.

use std::sync::Arc;

use hookbox_testkit::{Client, Database, Server, Sink};
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;

use super::load::{event, prepare};
use super::tally::{Tally, say};
use super::{node, nodes, on_both};

const EVENTS: usize = 2_000;
const TIMES: usize = 10;
const SENDERS: usize = 64;

on_both!(ten_of_each_event_make_one_message);

async fn ten_of_each_event_make_one_message(database: &Database) {
    let seed: u64 = rand::random();
    say(&format!("duplicates, {:?}: seed {seed}", database.kind()));
    let mut events: Vec<usize> = (0..EVENTS * TIMES).map(|number| number % EVENTS).collect();
    events.shuffle(&mut StdRng::seed_from_u64(seed));
    let sink = Sink::start().await;
    let mut nodes = nodes(node(database), 2).await;
    prepare(&nodes[0].client(), [""; 0], |path| sink.url(path)).await;

    let clients: Vec<Client> = nodes.iter().map(Server::stranger).collect();
    let (events, left) = (
        Arc::new(Mutex::new(events)),
        watch::Sender::new(EVENTS * TIMES),
    );
    let mut senders = JoinSet::new();
    for _ in 0..SENDERS {
        let (events, left, clients) = (Arc::clone(&events), left.clone(), clients.clone());
        senders.spawn(async move {
            loop {
                let Some(number) = events.lock().await.pop() else {
                    return;
                };
                send(&clients, number).await;
                left.send_modify(|left| *left -= 1);
            }
        });
    }
    let half = |left: &usize| *left < EVENTS * TIMES / 2;
    left.subscribe()
        .wait_for(half)
        .await
        .expect("events are sent");
    assert!(nodes[0].terminate().await.success());
    nodes[0].restart().await;
    senders.join_all().await;

    let ledger = (0..EVENTS).map(|number| format!("evt_{number}")).collect();
    let tally = Tally::complete(&sink, &ledger, database).await;
    assert_eq!(tally.repeats(), 0, "a clean restart repeats nothing");
}

/// Sends an event until it was taken.
async fn send(clients: &[Client], number: usize) {
    let event = event(&format!("evt_{number}"));
    loop {
        let client = &clients[rand::rng().random_range(0..clients.len())];
        let body = hookbox_testkit::http::full(&event.body);
        let sent = client
            .try_send(http::Method::POST, "/in/stripe", &event.headers, body)
            .await;
        match sent {
            Ok(reply) if reply.status == 200 => return,
            Ok(reply) => assert_eq!(reply.status, 503, "{reply:?}"),
            Err(_) => tokio::task::yield_now().await,
        }
    }
}
