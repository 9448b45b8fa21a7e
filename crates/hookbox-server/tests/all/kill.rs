//! `kill -9`, twenty times at random moments, under load on both sides.

use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hookbox_testkit::clock::in_time;
use hookbox_testkit::{Arrival, Client, Sink, sign};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::given;

const KILLS: usize = 20;
const SENDERS: usize = 8;

/// What the senders share.
struct Load {
    client: Client,
    next: AtomicUsize,
    stop: AtomicBool,
    up: watch::Receiver<bool>,
    accepted: mpsc::UnboundedSender<String>,
}

#[tokio::test(flavor = "multi_thread")]
async fn every_accepted_event_arrives_and_nothing_else() {
    let seed: u64 = rand::random();
    say(&format!("kill -9: seed {seed}"));
    let mut dice = StdRng::seed_from_u64(seed);
    let sink = Sink::start().await;
    // A receiver that is killed in the middle of a try must not use up the schedule.
    let schedule = ["50ms"; 30].join(",");
    let config = given::source("stripe", &[sign::STRIPE_SECRET], Some(&sink.url("/in")));
    let mut server = given::setup()
        .env("HOOKBOX_RETRY_SCHEDULE", &schedule)
        .config(&config)
        .start()
        .await;
    given::endpoint(&server.client(), "acme", &sink.url("/out")).await;

    let (up, seen_up) = watch::channel(true);
    let (accepted, mut acceptances) = mpsc::unbounded_channel();
    let load = Arc::new(Load {
        client: server.client(),
        next: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        up: seen_up,
        accepted,
    });
    let mut senders = JoinSet::new();
    for _ in 0..SENDERS {
        senders.spawn(receive_side(Arc::clone(&load)));
        senders.spawn(send_side(Arc::clone(&load)));
    }

    let mut ledger = HashSet::new();
    for _ in 0..KILLS {
        for _ in 0..dice.random_range(1..400) {
            let id = acceptances.recv().await.expect("senders run");
            assert!(ledger.insert(id), "accepted twice as new");
        }
        up.send_replace(false);
        server.kill9().await;
        server.restart().await;
        up.send_replace(true);
    }
    load.stop.store(true, Ordering::Relaxed);
    senders.join_all().await;
    drop(load);
    while let Some(id) = acceptances.recv().await {
        assert!(ledger.insert(id), "accepted twice as new");
    }
    judge(&server.client(), &sink, &ledger).await;
}

/// Set equality between what was answered 2xx and what arrived.
async fn judge(client: &Client, sink: &Sink, ledger: &HashSet<String>) {
    let mut looked_at = 0;
    let mut arrived: HashMap<String, (String, usize)> = HashMap::new();
    let complete = in_time(|| {
        for arrival in sink.arrivals_from(looked_at) {
            looked_at += 1;
            let webhook_id = arrival.header("webhook-id").to_owned();
            let known = arrived
                .entry(name(&arrival))
                .or_insert((webhook_id.clone(), 0));
            assert_eq!(known.0, webhook_id, "one event under two ids");
            known.1 += 1;
        }
        let complete = ledger.iter().all(|id| arrived.contains_key(id));
        async move { complete.then_some(()) }
    });
    let complete = complete.await.is_some();
    let lost: Vec<_> = ledger
        .iter()
        .filter(|id| !arrived.contains_key(*id))
        .collect();
    assert!(complete, "answered 2xx and never arrived: {lost:?}");
    let unknown: Vec<_> = arrived.keys().filter(|id| !ledger.contains(*id)).collect();
    assert!(unknown.is_empty(), "never accepted, and yet: {unknown:?}");
    let messages = given::all(client, "/api/v1/app/default/msg").await.len()
        + given::all(client, "/api/v1/app/acme/msg").await.len();
    assert_eq!(messages, ledger.len(), "each is recorded once");
    for application in ["default", "acme"] {
        let dead = given::all(client, &format!("/api/v1/app/{application}/dead")).await;
        assert!(dead.is_empty(), "{dead:?}");
    }
    let repeats: usize = arrived.values().map(|(_, times)| times - 1).sum();
    assert!(ledger.len() > 1000, "{} accepted is no load", ledger.len());
    say(&format!(
        "kill -9: {KILLS} kills, {} accepted, {} arrived, {repeats} repeats",
        ledger.len(),
        arrived.len()
    ));
}

/// A provider: sends an event until it is told that it was taken, and now and then a forged one.
async fn receive_side(load: Arc<Load>) {
    while !load.stop.load(Ordering::Relaxed) {
        let number = load.next.fetch_add(1, Ordering::Relaxed);
        let id = format!("evt_{number}");
        if number.is_multiple_of(20) {
            let body = json!({"id": format!("forged_{number}")}).to_string();
            let forged = sign::stripe("whsec_of_somebody_else", body.as_bytes());
            load.until(400, "/in/stripe", &forged.headers, &forged.body)
                .await;
        }
        let event = sign::stripe_event(&id);
        load.until(200, "/in/stripe", &event.headers, &event.body)
            .await;
        load.accepted.send(id).expect("the test counts");
    }
}

/// A backend: sends a message until it is told that it was taken.
async fn send_side(load: Arc<Load>) {
    while !load.stop.load(Ordering::Relaxed) {
        let number = load.next.fetch_add(1, Ordering::Relaxed);
        let id = format!("out_{number}");
        let headers = [
            ("content-type".to_owned(), "application/json".to_owned()),
            ("idempotency-key".to_owned(), format!("key_{number}")),
        ];
        let body = json!({"eventType": "a.b", "eventId": id, "payload": {"id": id}}).to_string();
        load.until(202, "/api/v1/app/acme/msg", &headers, body.as_bytes())
            .await;
        load.accepted.send(id).expect("the test counts");
    }
}

impl Load {
    /// Sends a request again and again until it has that answer. No answer and 503 are the only others.
    async fn until(&self, status: u16, path: &str, headers: &[(String, String)], body: &[u8]) {
        let mut up = self.up.clone();
        loop {
            up.wait_for(|up| *up).await.expect("the test runs");
            let body = hookbox_testkit::http::full(body);
            let sent = self
                .client
                .try_send(http::Method::POST, path, headers, body)
                .await;
            match sent {
                Ok(reply) if reply.status == status => return,
                Ok(reply) => assert_eq!(reply.status, 503, "{reply:?}"),
                Err(_) => tokio::task::yield_now().await,
            }
        }
    }
}

fn name(arrival: &Arrival) -> String {
    let body: serde_json::Value = serde_json::from_slice(&arrival.body).expect("as it was sent");
    body["id"].as_str().expect("an id").to_owned()
}

/// Written past the test runner, which keeps what a passing test prints to itself.
fn say(text: &str) {
    writeln!(std::io::stderr(), "{text}").expect("a terminal");
}
