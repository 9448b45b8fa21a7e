//! What arrives is what was sent, byte for byte.

use hookbox_testkit::{Sink, sign};

use crate::given;

const BODIES: [(&str, &[u8]); 14] = [
    ("key order", br#"{"z": 1, "a": 2, "id": "x", "A": 3}"#),
    ("a decimal", br#"{"amount":10.00,"e":1E+2,"n":-0.0}"#),
    ("a large integer", br#"{"id":9007199254740993}"#),
    ("escaped slashes", br#"{"url":"https:\/\/example.com\/a"}"#),
    ("escapes", br#"{"t":"\u00e9\ud83d\ude0a"}"#),
    ("raw UTF-8", "{\"t\":\"é😊\"}".as_bytes()),
    ("a byte order mark", b"\xef\xbb\xbf{\"a\":1}"),
    ("CRLF", b"{\r\n  \"a\": 2\r\n}\r\n"),
    ("a key twice", br#"{"a":1,"a":2}"#),
    ("invalid UTF-8", b"{\"a\":\"\xe2\x28\xff\"}"),
    ("bytes", b"\x00\xffraw\r\n\x80"),
    ("white space", b" \t\n{ \"a\" : [ ] } \n"),
    (
        "a form",
        b"payload=%7B%22zen%22%3A%22Design+for+failure.%22%7D",
    ),
    ("nothing", b""),
];

#[tokio::test]
async fn the_inbox_passes_on_the_bytes_that_came() {
    for pieces in [None, Some(3)] {
        let sink = Sink::start().await;
        let config = given::four_sources(Some(&sink.url("/")));
        let server = given::setup().config(&config).start().await;
        let mut sent = 0;
        for (what, body) in BODIES {
            let events = [
                ("stripe", sign::stripe(sign::STRIPE_SECRET, body)),
                (
                    "shopify",
                    sign::shopify(sign::SHOPIFY_SECRET, what, "orders/paid", body),
                ),
                (
                    "github",
                    sign::github(sign::GITHUB_SECRET, &what.replace(' ', "-"), "push", body),
                ),
                (
                    "standard-webhooks",
                    sign::standard(sign::STANDARD_SECRET, &what.replace(' ', "-"), body),
                ),
            ];
            for (source, event) in events {
                let reply = match pieces {
                    None => server.stranger().event(source, &event).await,
                    Some(size) => server
                        .stranger()
                        .event_in_pieces(source, &event, size)
                        .await
                        .unwrap(),
                };
                assert_eq!(reply.status, 200, "{what} from {source}: {reply:?}");
                sent += 1;
                let arrived = sink.wait_for(sent).await;
                assert_eq!(arrived[sent - 1].body, body, "{what} from {source}");
            }
        }
    }
}

#[tokio::test]
async fn the_outbox_sends_the_payload_as_it_was_written() {
    let sink = Sink::start().await;
    let server = given::setup().start().await;
    given::endpoint(&server.client(), "bytes", &sink.url("/")).await;
    let payloads = [
        r#"{"z": 1, "a": 2, "A": 3}"#,
        r#"{"amount":10.00,"e":1E+2,"n":-0.0}"#,
        r#"{"id":9007199254740993,"huge":123456789012345678901234567890.123456789}"#,
        r#"{"url":"https:\/\/example.com\/a"}"#,
        r#"{"t":"\u00e9\ud83d\ude0a","u":"é😊","nul":"\u0000"}"#,
        "{\r\n\t\"a\" : [ 1 ,2 ]\r\n}",
        r#"{"a":1,"a":2}"#,
        "{}",
    ];
    for (number, payload) in payloads.into_iter().enumerate() {
        let body = format!(r#"{{"eventType": "bytes.kept", "payload":  {payload} }}"#);
        let reply = server
            .client()
            .post_text("/api/v1/app/bytes/msg", &body)
            .await;
        assert_eq!(reply.status, 202, "{payload}: {reply:?}");
        let arrived = sink.wait_for(number + 1).await;
        assert_eq!(arrived[number].body, payload, "{payload}");
        assert_eq!(arrived[number].header("content-type"), "application/json");
    }
}
