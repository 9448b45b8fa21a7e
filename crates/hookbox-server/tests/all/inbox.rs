//! Events come in: once, whatever arrives.

use std::collections::HashSet;

use hookbox_testkit::clock::unix_now;
use hookbox_testkit::{Answer, Sink, sign};
use serde_json::json;

use crate::given;

#[tokio::test]
async fn the_same_event_twice_takes_effect_once() {
    let sink = Sink::start().await;
    let server = given::stripe_inbox(&sink).await;
    let client = server.stranger();
    let event = sign::stripe_event("evt_twice");

    let first = client.event("stripe", &event).await.expect(200);
    assert_eq!(first, json!({"received": true}));
    let second = client.event("stripe", &event).await.expect(200);
    assert_eq!(second, json!({"received": true, "duplicate": true}));

    // Whatever the second would have caused is in the queue before the third.
    client
        .event("stripe", &sign::stripe_event("evt_last"))
        .await
        .expect(200);
    let arrived = sink.wait_for(2).await;
    let bodies: Vec<_> = arrived.iter().map(|arrival| &arrival.body[..]).collect();
    assert!(bodies.contains(&&event.body[..]));
    assert_eq!(arrived.len(), 2);
    assert_eq!(given::messages(&server, "default").await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_event_on_fifty_connections_at_once_is_one_message() {
    let sink = Sink::start().await;
    let server = given::stripe_inbox(&sink).await;
    let event = sign::stripe_event("evt_fifty");
    let together = std::sync::Arc::new(tokio::sync::Barrier::new(50));

    let mut senders = tokio::task::JoinSet::new();
    for _ in 0..50 {
        // A client of its own is a connection of its own.
        let (client, event) = (server.stranger(), event.clone());
        let together = std::sync::Arc::clone(&together);
        senders.spawn(async move {
            together.wait().await;
            client.event("stripe", &event).await
        });
    }
    let replies = senders.join_all().await;
    assert!(
        replies.iter().all(|reply| reply.status == 200),
        "{replies:?}"
    );
    let new = replies
        .iter()
        .filter(|reply| reply.json().get("duplicate").is_none());
    assert_eq!(new.count(), 1);
    assert_eq!(sink.wait_for(1).await.len(), 1);
    assert_eq!(given::messages(&server, "default").await.len(), 1);
}

#[tokio::test]
async fn a_duplicate_is_known_after_a_restart() {
    let sink = Sink::start().await;
    let mut server = given::stripe_inbox(&sink).await;
    let event = sign::stripe_event("evt_restart");

    server.stranger().event("stripe", &event).await.expect(200);
    sink.wait_for(1).await;
    server.kill9().await;
    server.restart().await;
    let again = server.stranger().event("stripe", &event).await.expect(200);
    assert_eq!(again["duplicate"], json!(true));
    assert_eq!(given::messages(&server, "default").await.len(), 1);
}

#[tokio::test]
async fn a_duplicate_is_taken_while_the_first_copy_is_failing() {
    let sink = Sink::start().await;
    let server = given::stripe_inbox(&sink).await;
    let event = sign::stripe_event("evt_failing");
    sink.script([Answer::from(500).held(), Answer::from(500).held()]);

    server.stranger().event("stripe", &event).await.expect(200);
    sink.wait_for(1).await;
    let again = server.stranger().event("stripe", &event).await.expect(200);
    assert_eq!(again["duplicate"], json!(true));
    sink.release();

    // Two tries fail, the third is taken; the second copy adds none.
    let tries = sink.wait_for(3).await;
    let ids: HashSet<_> = tries
        .iter()
        .map(|arrival| arrival.header("webhook-id"))
        .collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(given::messages(&server, "default").await.len(), 1);
}

#[tokio::test]
async fn a_handler_that_fails_three_times_gets_the_event() {
    let sink = Sink::start().await;
    let server = given::stripe_inbox(&sink).await;
    sink.script([500_u16, 500, 500, 200]);
    let event = sign::stripe_event("evt_retried");
    server.stranger().event("stripe", &event).await.expect(200);

    let tries = sink.wait_for(4).await;
    let numbers: Vec<_> = tries
        .iter()
        .map(|arrival| arrival.header("hookbox-attempt"))
        .collect();
    assert_eq!(numbers, ["1", "2", "3", "4"]);
    for arrival in &tries {
        assert_eq!(arrival.body, event.body);
        assert_eq!(arrival.header("webhook-id"), tries[0].header("webhook-id"));
    }
    let dead = given::all(&server.client(), "/api/v1/app/default/dead").await;
    assert_eq!(dead, [] as [serde_json::Value; 0]);
}

#[tokio::test]
async fn an_app_receives_the_providers_headers_and_ours() {
    let sink = Sink::start().await;
    let server = given::setup()
        .config(&given::four_sources(Some(&sink.url("/hooks?from=hookbox"))))
        .start()
        .await;
    let event = sign::github(
        sign::GITHUB_SECRET,
        "7d3c1e9a",
        "ping",
        br#"{"zen": "Design for failure."}"#,
    )
    .with("x-forwarded-for", "203.0.113.9")
    .with("cookie", "session=1")
    .with("keep-alive", "timeout=5")
    .with("hookbox-attempt", "99")
    .with("webhook-id", "forged")
    .with("x-github-hook-installation-target-type", "repository");
    server.stranger().event("github", &event).await.expect(200);

    let arrival = sink.wait_for(1).await.remove(0);
    assert_eq!(
        (arrival.method.as_str(), arrival.path.as_str()),
        ("POST", "/hooks?from=hookbox")
    );
    assert_eq!(arrival.body, event.body);
    for (name, value) in [
        ("content-type", "application/json"),
        ("user-agent", "GitHub-Hookshot/test"),
        ("x-github-delivery", "7d3c1e9a"),
        ("x-github-event", "ping"),
        ("x-github-hook-installation-target-type", "repository"),
        ("hookbox-source", "github"),
        ("hookbox-attempt", "1"),
        ("original-webhook-id", "forged"),
    ] {
        assert_eq!(arrival.header(name), value, "{name}");
    }
    assert!(arrival.header("x-hub-signature-256").starts_with("sha256="));
    assert!(arrival.header("webhook-id").starts_with("msg_"));
    assert!(arrival.header("webhook-signature").starts_with("v1,"));
    let sent: i64 = arrival.header("webhook-timestamp").parse().unwrap();
    assert!((unix_now() - sent).abs() < 60);
    assert!(arrival.header("hookbox-received-at").ends_with('Z'));
    assert_eq!(arrival.headers.get_all("hookbox-attempt").iter().count(), 1);
    for name in [
        "x-forwarded-for",
        "cookie",
        "keep-alive",
        "transfer-encoding",
    ] {
        assert!(!arrival.headers.contains_key(name), "{name}");
    }
    let host = sink.url("").replace("http://", "");
    assert_eq!(arrival.header("host"), host);
}

#[tokio::test]
async fn each_of_the_four_providers_is_taken_and_forwarded() {
    let sink = Sink::start().await;
    let config = given::four_sources(Some(&sink.url("/")));
    let server = given::setup().config(&config).start().await;
    let events = [
        ("stripe", sign::stripe_event("evt_1")),
        (
            "shopify",
            sign::shopify(
                sign::SHOPIFY_SECRET,
                "b54557e4",
                "orders/paid",
                br#"{"id": 1}"#,
            ),
        ),
        (
            "github",
            sign::github(
                sign::GITHUB_SECRET,
                "72d3162e",
                "push",
                br#"{"after": "1"}"#,
            ),
        ),
        (
            "standard-webhooks",
            sign::standard(sign::STANDARD_SECRET, "msg_1", br#"{"type": "a.b"}"#),
        ),
    ];
    for (source, event) in &events {
        let reply = server.stranger().event(source, event).await;
        assert_eq!(reply.expect(200), json!({"received": true}), "{source}");
    }
    let arrived = sink.wait_for(4).await;
    for (source, event) in &events {
        let of_source = arrived
            .iter()
            .find(|arrival| arrival.header("hookbox-source") == *source);
        assert_eq!(of_source.expect(source).body, event.body, "{source}");
    }
}

#[tokio::test]
async fn every_configured_secret_is_good_and_no_other() {
    let sink = Sink::start().await;
    let config = given::source("stripe", &["whsec_old", "whsec_new"], Some(&sink.url("/")));
    let server = given::setup().config(&config).start().await;
    let client = server.stranger();
    for secret in ["whsec_old", "whsec_new"] {
        let body = format!(r#"{{"id": "evt_of_{secret}", "type": "a"}}"#);
        client
            .event("stripe", &sign::stripe(secret, body.as_bytes()))
            .await
            .expect(200);
    }
    let other = client
        .event("stripe", &sign::stripe("whsec_other", b"{}"))
        .await;
    assert_eq!(
        (other.status.as_u16(), other.code().as_str()),
        (400, "signature_mismatch")
    );
    assert_eq!(sink.wait_for(2).await.len(), 2);
}

#[tokio::test]
async fn a_stale_event_leaves_nothing() {
    let sink = Sink::start().await;
    let server = given::stripe_inbox(&sink).await;
    let body = br#"{"id": "evt_stale", "type": "a"}"#;
    for (age, code) in [(400, "timestamp_too_old"), (-400, "timestamp_in_future")] {
        let event = sign::stripe_at(sign::STRIPE_SECRET, unix_now() - age, body);
        let reply = server.stranger().event("stripe", &event).await;
        assert_eq!((reply.status.as_u16(), reply.code().as_str()), (400, code));
    }
    given::nothing_recorded(&server, "stripe").await;
}

#[tokio::test]
async fn a_forged_event_leaves_nothing_that_the_genuine_one_could_meet() {
    let sink = Sink::start().await;
    let server = given::stripe_inbox(&sink).await;
    let genuine = sign::stripe_event("evt_poison");
    let forged = sign::stripe("whsec_of_somebody_else", &genuine.body);

    let reply = server.stranger().event("stripe", &forged).await;
    assert_eq!(
        (reply.status.as_u16(), reply.code().as_str()),
        (400, "signature_mismatch")
    );
    given::nothing_recorded(&server, "stripe").await;
    let taken = server
        .stranger()
        .event("stripe", &genuine)
        .await
        .expect(200);
    assert_eq!(taken, json!({"received": true}));
    sink.wait_for(1).await;
}
