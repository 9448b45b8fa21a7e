//! Bad input gets an answer that says what is wrong, and leaves nothing behind.

use hookbox_testkit::http::raw;
use hookbox_testkit::{Client, Reply, Server, Sink, sign};
use http::Method;
use serde_json::{Value, json};

use crate::given;

const MIB: usize = 1 << 20;

async fn four_doors() -> (Server, Sink) {
    let sink = Sink::start().await;
    let config = given::four_sources(Some(&sink.url("/")));
    (given::setup().config(&config).start().await, sink)
}

/// An error in the API's shape, with a stable code.
fn assert_refused(reply: &Reply, status: u16, what: &str) {
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
}

async fn nothing_left(server: &Server) {
    for source in ["stripe", "shopify", "github", "standard-webhooks"] {
        given::nothing_recorded(server, source).await;
    }
    assert!(!server.log().contains("panicked"));
}

#[tokio::test]
async fn an_unproven_event_is_refused_with_its_reason() {
    let (server, _sink) = four_doors().await;
    let long = "v".repeat(20_000);
    let stripe = || sign::stripe_event("evt_1");
    let github = || sign::github(sign::GITHUB_SECRET, "1", "push", b"{}");
    let shopify = || sign::shopify(sign::SHOPIFY_SECRET, "1", "orders/paid", b"{}");
    let standard = || sign::standard(sign::STANDARD_SECRET, "msg_1", b"{}");
    let zeros = format!("sha256={}", "0".repeat(64));
    let cases = [
        (
            "stripe",
            stripe().without("stripe-signature"),
            "signature_missing",
        ),
        (
            "stripe",
            stripe().with("stripe-signature", ""),
            "signature_",
        ),
        (
            "stripe",
            stripe().with("stripe-signature", "bad_header"),
            "signature_",
        ),
        (
            "stripe",
            stripe().with("stripe-signature", &long),
            "signature_",
        ),
        (
            "stripe",
            stripe().with("stripe-signature", "t=1,v1="),
            "signature_",
        ),
        (
            "stripe",
            stripe().with("stripe-signature", "t=\u{661},v1=00"),
            "signature_",
        ),
        (
            "stripe",
            sign::stripe("whsec_other", b"{}"),
            "signature_mismatch",
        ),
        (
            "github",
            github().without("x-hub-signature-256"),
            "signature_missing",
        ),
        (
            "github",
            github().with("x-hub-signature-256", &zeros),
            "signature_mismatch",
        ),
        (
            "github",
            github().with("x-hub-signature-256", "sha1=00"),
            "signature_",
        ),
        (
            "shopify",
            shopify().without("x-shopify-hmac-sha256"),
            "signature_missing",
        ),
        (
            "shopify",
            shopify().with("x-shopify-hmac-sha256", "AAAA"),
            "signature_",
        ),
        (
            "standard-webhooks",
            standard().without("webhook-signature"),
            "signature_missing",
        ),
        (
            "standard-webhooks",
            standard().without("webhook-id"),
            "id_missing",
        ),
        (
            "standard-webhooks",
            standard().without("webhook-timestamp"),
            "timestamp_missing",
        ),
        (
            "standard-webhooks",
            standard().with("webhook-signature", "v1,"),
            "signature_",
        ),
        (
            "standard-webhooks",
            standard().with("webhook-id", "msg_2"),
            "signature_mismatch",
        ),
    ];
    for (source, event, code) in cases {
        let reply = server.stranger().event(source, &event).await;
        let what = format!("{source} {:?}", event.headers);
        assert_refused(&reply, 400, &what);
        assert!(reply.code().starts_with(code), "{what}: {}", reply.code());
        assert!(
            !reply
                .body
                .windows(40)
                .any(|part| part == &long.as_bytes()[..40]),
            "{what}"
        );
    }
    nothing_left(&server).await;
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

#[tokio::test]
async fn the_router_answers_in_the_same_shape() {
    let (server, _sink) = four_doors().await;
    let client = server.client();
    let long = "a".repeat(10_000);
    for (method, path, status) in [
        (Method::POST, "/in/unknown", 404),
        (Method::GET, "/in/unknown", 404),
        (Method::POST, "/in/", 404),
        (Method::POST, &format!("/in/{long}"), 404),
        (Method::POST, "/in/%00", 404),
        (Method::POST, "/in/..%2f", 404),
        (Method::GET, "/in/stripe", 405),
        (Method::PUT, "/in/stripe", 405),
        (Method::DELETE, "/in/stripe", 405),
        (Method::GET, "/nothing", 404),
        (Method::GET, "/.git/config", 404),
        (Method::GET, "/api/v1/nothing", 404),
        (Method::GET, "/api/v1/app/nobody", 404),
        (Method::GET, &format!("/api/v1/app/{long}"), 404),
        (Method::GET, "/api/v1/app/%00", 404),
        (Method::GET, "/api/v1/app/%ff", 404),
        (Method::POST, "/api/v1/app/nobody/msg/msg_1", 405),
        (Method::DELETE, "/api/v1/app", 405),
    ] {
        let reply = client.send(method.clone(), path, &[], b"").await;
        assert_refused(&reply, status, &format!("{method} {path:.60}"));
        assert_eq!(
            reply.headers.contains_key("allow"),
            status == 405,
            "{method} {path:.60}"
        );
    }
    let head = client.send(Method::HEAD, "/in/stripe", &[], b"").await;
    assert_eq!(head.status, 405);
    nothing_left(&server).await;
}

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

#[tokio::test]
async fn broken_http_is_a_client_error() {
    let (server, _sink) = four_doors().await;
    let many = "a: b\r\n".repeat(500);
    let long = "a".repeat(600_000);
    for (what, request) in [
        ("two lengths", "POST /in/stripe HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab".to_owned()),
        ("a length of +5", "POST /in/stripe HTTP/1.1\r\nhost: a\r\ncontent-length: +5\r\n\r\nabcde".to_owned()),
        ("NUL in a header", "POST /in/stripe HTTP/1.1\r\nhost: a\r\nstripe-signature: a\0b\r\ncontent-length: 0\r\n\r\n".to_owned()),
        ("a space before a colon", "POST /in/stripe HTTP/1.1\r\nhost : a\r\ncontent-length: 0\r\n\r\n".to_owned()),
        ("500 headers", format!("POST /in/stripe HTTP/1.1\r\nhost: a\r\n{many}content-length: 0\r\n\r\n")),
        ("a header of 600 kB", format!("POST /in/stripe HTTP/1.1\r\nhost: a\r\nx: {long}\r\ncontent-length: 0\r\n\r\n")),
        ("a bad chunk", "POST /in/stripe HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nab\r\n".to_owned()),
        ("no HTTP", "hello\r\n\r\n".to_owned()),
    ] {
        let answer = raw(server.address(), request.as_bytes()).await;
        let text = String::from_utf8_lossy(&answer);
        // Some are so broken that the connection ends without a word.
        assert!(answer.is_empty() || text.starts_with("HTTP/1.1 4"), "{what}: {text}");
    }
    nothing_left(&server).await;
    assert_eq!(server.stranger().get("/livez").await.status, 200);
}
