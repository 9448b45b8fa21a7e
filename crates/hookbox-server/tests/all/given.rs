//! What most tests begin with, and what they ask the API for.

use hookbox_testkit::process::Setup;
use hookbox_testkit::sign::{GITHUB_SECRET, SHOPIFY_SECRET, STANDARD_SECRET, STRIPE_SECRET};
use hookbox_testkit::{Client, Server, Sink};
use serde_json::{Value, json};

/// A server of its own for the test.
pub(crate) fn setup() -> Setup {
    Setup::new(env!("CARGO_BIN_EXE_hookbox")).env("HOOKBOX_RETRY_SCHEDULE", "50ms,50ms,50ms")
}

/// The settings of a source whose events go to `forward`.
pub(crate) fn source(provider: &str, secrets: &[&str], forward: Option<&str>) -> String {
    let forward: Vec<&str> = forward.into_iter().collect();
    format!(
        "[[source]]\nname = \"{provider}\"\nprovider = \"{provider}\"\nsecrets = {secrets:?}\nforward = {forward:?}\n\n"
    )
}

/// The settings of one source for each provider, all with the secrets of the testkit.
pub(crate) fn four_sources(forward: Option<&str>) -> String {
    let sources = [
        ("stripe", STRIPE_SECRET),
        ("shopify", SHOPIFY_SECRET),
        ("github", GITHUB_SECRET),
        ("standard-webhooks", STANDARD_SECRET),
    ];
    sources
        .map(|(provider, secret)| source(provider, &[secret], forward))
        .concat()
}

/// A server that takes Stripe's events for the receiver.
pub(crate) async fn stripe_inbox(sink: &Sink) -> Server {
    let config = source("stripe", &[STRIPE_SECRET], Some(&sink.url("/stripe")));
    setup().config(&config).start().await
}

/// Everything in a list, over all its pages.
pub(crate) async fn all(client: &Client, path: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut iterator = None;
    loop {
        let from = iterator.map_or(String::new(), |last: String| format!("&iterator={last}"));
        let page = client
            .get(&format!("{path}?limit=250{from}"))
            .await
            .expect(200);
        found.extend(page["data"].as_array().expect("a list").iter().cloned());
        if page["done"] == json!(true) {
            return found;
        }
        iterator = page["iterator"].as_str().map(str::to_owned);
    }
}

/// The messages of an application.
pub(crate) async fn messages(server: &Server, application: &str) -> Vec<Value> {
    all(&server.client(), &format!("/api/v1/app/{application}/msg")).await
}

/// That a source has recorded nothing: no receipt, no message.
pub(crate) async fn nothing_recorded(server: &Server, source: &str) {
    let receipts = all(
        &server.client(),
        &format!("/api/v1/source/{source}/receipt"),
    )
    .await;
    assert_eq!(receipts, [] as [Value; 0]);
    assert_eq!(messages(server, "default").await, [] as [Value; 0]);
}

/// An application with one endpoint; returns the endpoint.
pub(crate) async fn endpoint(client: &Client, application: &str, url: &str) -> Value {
    let new = json!({"name": application, "uid": application});
    let made = client.post("/api/v1/app?get_if_exists=true", &new).await;
    assert!(made.status.is_success(), "{made:?}");
    let path = format!("/api/v1/app/{application}/endpoint");
    client.post(&path, &json!({"url": url})).await.expect(201)
}

/// The signing secret of an endpoint.
pub(crate) async fn secret(client: &Client, application: &str, endpoint: &Value) -> String {
    let id = endpoint["id"].as_str().expect("an id");
    let path = format!("/api/v1/app/{application}/endpoint/{id}/secret");
    let secret = client.get(&path).await.expect(200);
    secret["key"].as_str().expect("a key").to_owned()
}

/// Sends a message; returns its id.
pub(crate) async fn message(client: &Client, application: &str, payload: &Value) -> String {
    let new = json!({"eventType": "invoice.paid", "payload": payload});
    let path = format!("/api/v1/app/{application}/msg");
    let made = client.post(&path, &new).await.expect(202);
    made["id"].as_str().expect("an id").to_owned()
}
