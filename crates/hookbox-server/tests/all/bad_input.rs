//! Bad input gets an answer that says what is wrong, and leaves nothing behind.

mod call;
mod event;
mod request;

use hookbox_testkit::{Reply, Server, Sink};

use crate::given;

pub(super) async fn four_doors() -> (Server, Sink) {
    let sink = Sink::start().await;
    let config = given::four_sources(Some(&sink.url("/")));
    (given::setup().config(&config).start().await, sink)
}

/// An error in the API's shape, with a stable code.
pub(super) fn assert_refused(reply: &Reply, status: u16, what: &str) {
    assert_eq!(reply.status, status, "{what}: {reply:?}");
    let body = reply.json();
    let stable = if status == 422 {
        &body["detail"][0]["type"]
    } else {
        &body["code"]
    };
    assert!(
        stable.as_str().is_some_and(|code| !code.is_empty()),
        "{what}: {body}"
    );
    assert!(!body["detail"].is_null(), "{what}: {body}");
    // What is left of the body would otherwise stand in the way of the next request.
    let closes = reply
        .headers
        .get("connection")
        .is_some_and(|value| value == "close");
    assert_eq!(closes, status == 413, "{what}: {reply:?}");
}

pub(super) async fn nothing_left(server: &Server) {
    for source in ["stripe", "shopify", "github", "standard-webhooks"] {
        given::nothing_recorded(server, source).await;
    }
    assert!(!server.log().contains("panicked"));
}
