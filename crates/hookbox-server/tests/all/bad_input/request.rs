//! Requests for nothing that is there, and what is no HTTP.

use hookbox_testkit::http::raw;
use http::Method;

use super::{assert_refused, four_doors, nothing_left};

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
