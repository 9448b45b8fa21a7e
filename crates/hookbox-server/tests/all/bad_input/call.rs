//! Calls of the API that make no sense.

use hookbox_testkit::Client;
use http::Method;
use serde_json::{Value, json};

use super::assert_refused;
use crate::given;

const MIB: usize = 1 << 20;

#[tokio::test]
async fn the_api_wants_a_token() {
    let server = given::setup().start().await;
    let strangers: [Client; 4] = [
        server.stranger(),
        server.stranger().with_token("no-such-token"),
        server.stranger().with_token(""),
        server.stranger().with_token(&"t".repeat(10_000)),
    ];
    for stranger in strangers {
        for path in ["/api/v1/app", "/api/v1/app/acme/msg", "/api/v1/source"] {
            let reply = stranger.get(path).await;
            assert_refused(&reply, 401, path);
            assert_eq!(reply.code(), "authentication_failed");
        }
    }
}

#[tokio::test]
async fn the_api_says_what_is_wrong_with_a_body() {
    let server = given::setup().start().await;
    let client = server.client();
    client
        .post("/api/v1/app", &json!({"name": "acme", "uid": "acme"}))
        .await
        .expect(201);
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let msg = "/api/v1/app/acme/msg";
    for (path, body, statuses) in [
        (msg, "", [400, 422]),
        (msg, "{", [400, 422]),
        (msg, "[]", [400, 422]),
        (msg, "{} {}", [400, 422]),
        (msg, r#"{"eventType":"a.b","payload":{},}"#, [400, 422]),
        (msg, &deep, [400, 422]),
        (
            msg,
            &format!(r#"{{"eventType":"a.b","payload":{{"a":{deep}}}}}"#),
            [400, 422],
        ),
        (
            msg,
            &format!(r#"{{"eventType":"a.b","payload":{{}},"other":{deep}}}"#),
            [400, 422],
        ),
        (
            msg,
            &format!(
                r#"{{"eventType":"a.b","payload":{{"a":"{}"}}}}"#,
                "x".repeat(MIB)
            ),
            [413, 413],
        ),
        ("/api/v1/app", r#"{"name": 1}"#, [422, 422]),
        ("/api/v1/app", r#"{"uid": "no-name"}"#, [422, 422]),
    ] {
        let reply = client.post_text(path, body).await;
        assert!(
            statuses.contains(&reply.status.as_u16()),
            "{body:.80}: {reply:?}"
        );
        assert_refused(&reply, reply.status.as_u16(), body);
    }
    let text = [("content-type".to_owned(), "text/xml".to_owned())];
    let reply = client.send(Method::POST, msg, &text, b"<a/>").await;
    assert!(
        matches!(reply.status.as_u16(), 400 | 415 | 422),
        "{reply:?}"
    );
    for query in [
        "limit=0",
        "limit=-1",
        "limit=251",
        "limit=abc",
        "iterator=garbage",
        "before=yesterday",
    ] {
        let reply = client.get(&format!("{msg}?{query}")).await;
        assert_refused(&reply, 422, query);
    }
    assert_eq!(given::messages(&server, "acme").await, [] as [Value; 0]);
    assert!(!server.log().contains("panicked"));
}

#[tokio::test]
async fn nul_and_length_in_every_string_of_the_api() {
    let server = given::setup().start().await;
    let client = server.client();
    client
        .post("/api/v1/app", &json!({"name": "acme", "uid": "acme"}))
        .await
        .expect(201);
    let long = "u".repeat(10_000);
    for bad in ["a\u{0}b", "\u{0}", &long] {
        for (path, body) in [
            ("/api/v1/app", json!({"name": "x", "uid": bad})),
            ("/api/v1/app", json!({"name": "x", "metadata": {"k": bad}})),
            (
                "/api/v1/app/acme/endpoint",
                json!({"url": format!("http://127.0.0.1/{bad}")}),
            ),
            (
                "/api/v1/app/acme/endpoint",
                json!({"url": "http://127.0.0.1/", "uid": bad}),
            ),
            (
                "/api/v1/app/acme/endpoint",
                json!({"url": "http://127.0.0.1/", "eventTypes": [bad]}),
            ),
            (
                "/api/v1/app/acme/endpoint",
                json!({"url": "http://127.0.0.1/", "channels": [bad]}),
            ),
            (
                "/api/v1/app/acme/endpoint",
                json!({"url": "http://127.0.0.1/", "secret": bad}),
            ),
            (
                "/api/v1/app/acme/msg",
                json!({"eventType": bad, "payload": {}}),
            ),
            (
                "/api/v1/app/acme/msg",
                json!({"eventType": "a.b", "eventId": bad, "payload": {}}),
            ),
            (
                "/api/v1/app/acme/msg",
                json!({"eventType": "a.b", "channels": [bad], "payload": {}}),
            ),
            (
                "/api/v1/event-type",
                json!({"name": bad, "description": "x"}),
            ),
            (
                "/api/v1/source",
                json!({"name": bad, "provider": "stripe", "secrets": ["whsec_x"]}),
            ),
            (
                "/api/v1/source",
                json!({"name": "x", "provider": bad, "secrets": ["whsec_x"]}),
            ),
        ] {
            let reply = client.post(path, &body).await;
            assert_refused(&reply, 422, &format!("{path} {:.120}", body.to_string()));
        }
    }
    for (path, body) in [
        ("/api/v1/app", json!({"name": "a\u{0}b"})),
        (
            "/api/v1/app/acme/endpoint",
            json!({"url": "http://127.0.0.1/", "description": "a\u{0}b"}),
        ),
        (
            "/api/v1/event-type",
            json!({"name": "c.d", "description": "a\u{0}b"}),
        ),
    ] {
        assert_refused(&client.post(path, &body).await, 422, path);
    }
    let header = [
        ("content-type".to_owned(), "application/json".to_owned()),
        ("idempotency-key".to_owned(), long.clone()),
    ];
    let body = br#"{"eventType":"a.b","payload":{}}"#;
    let reply = client
        .send(Method::POST, "/api/v1/app/acme/msg", &header, body)
        .await;
    assert!(reply.status.is_client_error(), "{reply:?}");

    assert_eq!(given::all(&client, "/api/v1/app").await.len(), 1);
    assert_eq!(
        given::all(&client, "/api/v1/event-type").await,
        [] as [Value; 0]
    );
    assert_eq!(
        given::all(&client, "/api/v1/app/acme/endpoint").await,
        [] as [Value; 0]
    );
    assert_eq!(given::messages(&server, "acme").await, [] as [Value; 0]);
    assert!(!server.log().contains("panicked"));
}
