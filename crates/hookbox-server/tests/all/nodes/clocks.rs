//! Nodes whose machines do not agree on the time.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use hookbox_testkit::process::Setup;
use hookbox_testkit::{Answer, Database, Sink, sign};
use serde_json::json;

use super::load::prepare;
use super::{given, node, on_both, settled};

const MESSAGES: usize = 6;
const RETRY: Duration = Duration::from_secs(2);

/// A node whose machine's clock is that far off, and goes on as fast as others.
fn off(setup: Setup, by: &str) -> Setup {
    let library = format!(
        "/usr/lib/{}-linux-gnu/faketime/libfaketimeMT.so.1",
        std::env::consts::ARCH
    );
    assert!(
        Path::new(&library).exists(),
        "{library} is missing: install libfaketime"
    );
    setup
        .env("LD_PRELOAD", &library)
        .env("FAKETIME", by)
        .env("DONT_FAKE_MONOTONIC", "1")
}

on_both!(nodes_go_by_the_clock_of_their_database);

async fn nodes_go_by_the_clock_of_their_database(database: &Database) {
    let sink = Sink::start().await;
    let setup = node(database).env("HOOKBOX_RETRY_SCHEDULE", "2s,2s");
    let early = off(setup, "+1h").start().await;
    let late = off(early.setup().node(), "-1h").start().await;
    prepare(&early.client(), ["acme"], |path| sink.url(path)).await;

    // A signature made now is neither too old for the one nor too new for the other.
    for (number, server) in [&early, &late].into_iter().enumerate() {
        let event = sign::stripe_event(&format!("evt_{number}"));
        server.stranger().event("stripe", &event).await.expect(200);
    }
    sink.wait_for(2).await;

    sink.script((0..MESSAGES).map(|_| Answer::from(500)).collect::<Vec<_>>());
    for number in 0..MESSAGES {
        let server = [&early, &late][number % 2];
        given::message(&server.client(), "acme", &json!({"id": number.to_string()})).await;
    }
    let began = Instant::now();
    let arrived = sink.wait_for(2 + 2 * MESSAGES).await;
    assert!(began.elapsed() >= RETRY / 2, "a retry came early");
    let now = SystemTime::UNIX_EPOCH
        .elapsed()
        .expect("it is later")
        .as_secs();
    for arrival in &arrived {
        let said: u64 = arrival
            .header("webhook-timestamp")
            .parse()
            .expect("a number");
        assert!(now.abs_diff(said) < 120, "{said} at {now}");
    }
    settled(database).await;
    assert_eq!(sink.count(), 2 + 2 * MESSAGES, "none was sent twice");
}
