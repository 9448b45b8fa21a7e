//! Events that are not the provider's, too large, or strange.

use hookbox_testkit::http::raw;
use hookbox_testkit::{Signed, sign};
use serde_json::json;

use super::{assert_refused, four_doors, nothing_left};
use crate::given;

const MIB: usize = 1 << 20;

/// Sends variants of one good event, each of which is refused with a code that begins so.
async fn refuses(source: &str, variants: Vec<(Signed, &str)>) {
    let (server, _sink) = four_doors().await;
    for (event, code) in variants {
        let reply = server.stranger().event(source, &event).await;
        let what = format!("{source} {:.200}", format!("{:?}", event.headers));
        assert_refused(&reply, 400, &what);
        assert!(reply.code().starts_with(code), "{what}: {}", reply.code());
        assert!(reply.body.len() < 1000, "repeats what it was sent: {what}");
    }
    nothing_left(&server).await;
}

#[tokio::test]
async fn an_unproven_stripe_event_is_refused_with_its_reason() {
    let name = "stripe-signature";
    let event = sign::stripe_event("evt_1");
    let with = |value: &str| event.clone().with(name, value);
    let long = "v".repeat(20_000);
    let variants = vec![
        (event.clone().without(name), "signature_missing"),
        (with(""), "signature_"),
        (with("bad_header"), "signature_"),
        (with(&long), "signature_"),
        (with("t=1,v1="), "signature_"),
        (with("t=\u{661},v1=00"), "signature_"),
        (sign::stripe("whsec_other", b"{}"), "signature_mismatch"),
    ];
    refuses("stripe", variants).await;
}

#[tokio::test]
async fn an_unproven_github_event_is_refused_with_its_reason() {
    let name = "x-hub-signature-256";
    let event = sign::github(sign::GITHUB_SECRET, "1", "push", b"{}");
    let with = |value: &str| event.clone().with(name, value);
    let zeros = format!("sha256={}", "0".repeat(64));
    let variants = vec![
        (event.clone().without(name), "signature_missing"),
        (with(&zeros), "signature_mismatch"),
        (with("sha1=00"), "signature_"),
        (with("sha256="), "signature_"),
    ];
    refuses("github", variants).await;
}

#[tokio::test]
async fn an_unproven_shopify_event_is_refused_with_its_reason() {
    let name = "x-shopify-hmac-sha256";
    let event = sign::shopify(sign::SHOPIFY_SECRET, "1", "orders/paid", b"{}");
    let variants = vec![
        (event.clone().without(name), "signature_missing"),
        (event.with(name, "AAAA"), "signature_"),
        (
            sign::shopify("other", "1", "orders/paid", b"{}"),
            "signature_mismatch",
        ),
    ];
    refuses("shopify", variants).await;
}

#[tokio::test]
async fn an_unproven_standard_webhook_is_refused_with_its_reason() {
    let event = sign::standard(sign::STANDARD_SECRET, "msg_1", b"{}");
    let variants = vec![
        (
            event.clone().without("webhook-signature"),
            "signature_missing",
        ),
        (event.clone().without("webhook-id"), "id_missing"),
        (
            event.clone().without("webhook-timestamp"),
            "timestamp_missing",
        ),
        (event.clone().with("webhook-signature", "v1,"), "signature_"),
        (event.with("webhook-id", "msg_2"), "signature_mismatch"),
    ];
    refuses("standard-webhooks", variants).await;
}

#[tokio::test]
async fn one_altered_byte_is_one_too_many() {
    let (server, _sink) = four_doors().await;
    let mut event = sign::stripe(sign::STRIPE_SECRET, br#"{"id":"evt_1","amount":10.00}"#);
    event.body = br#"{"id":"evt_1","amount":10.0}"#.to_vec();
    let reply = server.stranger().event("stripe", &event).await;
    assert_refused(&reply, 400, "altered");
    nothing_left(&server).await;
}

#[tokio::test]
async fn a_body_over_the_cap_is_refused_however_it_comes() {
    let (server, _sink) = four_doors().await;
    let signed = |length: usize| sign::stripe(sign::STRIPE_SECRET, &vec![b'x'; length]);
    let whole = server.stranger().event("stripe", &signed(MIB + 1)).await;
    assert_refused(&whole, 413, "by length");
    let pieces = server
        .stranger()
        .event_in_pieces("stripe", &signed(MIB + 1), 50_000)
        .await;
    assert_refused(&pieces.expect("an answer"), 413, "by chunks");

    // Refused as soon as it is declared: nothing of it is sent here.
    let declared = b"POST /in/stripe HTTP/1.1\r\nhost: a\r\ncontent-length: 10737418240\r\n\r\n";
    let answer = raw(server.address(), declared).await;
    assert!(
        answer.starts_with(b"HTTP/1.1 413 "),
        "{}",
        String::from_utf8_lossy(&answer)
    );
    nothing_left(&server).await;

    server
        .stranger()
        .event("stripe", &signed(MIB))
        .await
        .expect(200);
    let push = sign::github(sign::GITHUB_SECRET, "large", "push", &vec![b' '; 25 * MIB]);
    server.stranger().event("github", &push).await.expect(200);
    let larger = sign::github(
        sign::GITHUB_SECRET,
        "larger",
        "push",
        &vec![b' '; 26 * MIB + 1],
    );
    assert_refused(
        &server.stranger().event("github", &larger).await,
        413,
        "over GitHub's cap",
    );
    assert_eq!(given::messages(&server, "default").await.len(), 2);
}

#[tokio::test]
async fn the_inbox_takes_any_signed_bytes() {
    let (server, sink) = four_doors().await;
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let deep_id = format!(r#"{{"a":{deep},"id":"evt_deep"}}"#);
    let bodies: [&[u8]; 6] = [
        b"{",
        b"not JSON",
        deep.as_bytes(),
        deep_id.as_bytes(),
        br#"{"id":"\u0000","type":"\u0000"}"#,
        br#"{"id":{"a":1},"type":[1]}"#,
    ];
    for (number, body) in bodies.into_iter().enumerate() {
        let event = sign::stripe(sign::STRIPE_SECRET, body);
        let reply = server.stranger().event("stripe", &event).await;
        assert_eq!(reply.status, 200, "{number}: {reply:?}");
        let arrived = sink.wait_for(number + 1).await;
        assert_eq!(arrived[number].body, body, "{number}");
    }
    assert!(!server.log().contains("panicked"));
}

#[tokio::test]
async fn an_id_is_bounded_and_names_nothing_else() {
    let (server, _sink) = four_doors().await;
    let client = server.stranger();
    let long = "i".repeat(10_000);
    let body = format!(r#"{{"id":"{long}"}}"#);
    let events = [
        (
            "github",
            sign::github(sign::GITHUB_SECRET, &long, "push", b"{}"),
        ),
        (
            "github",
            sign::github(sign::GITHUB_SECRET, "1", &long, b"{}"),
        ),
        (
            "shopify",
            sign::shopify(sign::SHOPIFY_SECRET, &long, "a", b"{}"),
        ),
        (
            "standard-webhooks",
            sign::standard(sign::STANDARD_SECRET, &long, b"{}"),
        ),
    ];
    for (source, event) in events {
        let reply = client.event(source, &event).await;
        assert_refused(&reply, 400, &format!("{source}, an id of 10 kB"));
    }
    // One inside the body cannot be refused without losing the event: the body then names itself.
    let in_body = client
        .event(
            "stripe",
            &sign::stripe(sign::STRIPE_SECRET, body.as_bytes()),
        )
        .await;
    assert!(matches!(in_body.status.as_u16(), 200 | 400), "{in_body:?}");
    for id in [
        "../../etc",
        "'; DROP TABLE message; --",
        "%00",
        "evt_A",
        "evt_a",
        "{}",
        "%s",
    ] {
        let event = sign::github(sign::GITHUB_SECRET, id, "push", b"{}");
        let taken = client.event("github", &event).await.expect(200);
        assert_eq!(taken, json!({"received": true}), "{id} is an id of its own");
    }
    assert!(!server.log().contains("panicked"));
}
