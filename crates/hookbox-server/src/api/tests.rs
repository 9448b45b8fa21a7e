//! The whole router over a real store.

use axum::body::Body;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::store::Handoff;
use crate::store::Migrate;
use crate::store::seal::Sealer;
use crate::store::sqlite::SqliteStore;

struct Server {
    routes: Router,
    _files: TempDir,
}

/// What was answered: the status, the body, and the methods that are allowed.
type Answered = (u16, String, Option<String>);

impl Server {
    fn start() -> Self {
        let files = TempDir::new().unwrap();
        let path = files.path().join("test.db");
        let sealer = Sealer::new([7; 32]);
        let store = SqliteStore::open(&path, sealer, Handoff::closed(), Migrate::IfEmpty).unwrap();
        let routes = router(Api {
            store: Arc::new(store),
            clock: Clock,
            admin: Some(digest("admin")),
            check_url: Arc::new(|url| match url.starts_with("https://") {
                true => Ok(url.to_owned()),
                false => Err("must be an https address".to_owned()),
            }),
            check_source: Arc::new(|_, secrets, _| match secrets {
                [] => Err("needs a secret".to_owned()),
                _ => Ok(()),
            }),
        });
        Self {
            routes,
            _files: files,
        }
    }

    async fn send(&self, request: Request) -> Answered {
        let response = self.routes.clone().call(request).await.unwrap();
        let allow = response.headers().get("allow");
        let allow = allow.map(|allow| allow.to_str().unwrap().to_owned());
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap(), allow)
    }

    async fn ask_with(&self, what: &str, body: impl Into<Body>, more: (&str, &str)) -> Answered {
        let (method, uri) = what.split_once(' ').unwrap();
        let request = Request::builder()
            .method(method)
            .uri(uri)
            .header("authorization", "Bearer admin")
            .header("content-type", "application/json")
            .header(more.0, more.1);
        self.send(request.body(body.into()).unwrap()).await
    }

    async fn ask(&self, what: &str, body: Value) -> (u16, Value) {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let (status, body, _) = self.ask_with(what, body, ("x-none", "")).await;
        (status, serde_json::from_str(&body).unwrap_or(Value::Null))
    }
}

const APP: &str = "POST /api/v1/app";
const MSG: &str = "POST /api/v1/app/mine/msg";

#[test]
fn extra_slashes_go() {
    let tidy =
        |text: &str| tidied(&text.parse().unwrap()).map_or(text.to_owned(), |uri| uri.to_string());
    for (sent, meant) in [
        ("/api/v1/app", "/api/v1/app"),
        ("/api/v1/app/", "/api/v1/app"),
        ("//api/v1/app//?a=/b/", "/api/v1/app?a=/b/"),
        ("/", "/"),
        ("///", "/"),
        ("/a//b", "/a//b"),
    ] {
        assert_eq!(tidy(sent), meant);
    }
}

#[tokio::test]
async fn every_refusal_of_the_router_is_json() {
    let server = Server::start();
    let bare = Request::builder().uri("//api/v1/app/");
    let (status, body, _) = server.send(bare.body(Body::empty()).unwrap()).await;
    assert_eq!(status, 401);
    assert!(body.contains("authentication_failed"));
    assert_eq!(
        server.ask("GET /api/v1/nothing", Value::Null).await.1["code"],
        "not_found"
    );
    let (status, body, allow) = server
        .ask_with("DELETE /api/v1/app", "", ("x-none", ""))
        .await;
    assert_eq!((status, allow.as_deref()), (405, Some("GET,HEAD,POST")));
    assert!(body.contains("method_not_allowed"));
    let (status, body) = server.ask("GET //api/v1/app/", Value::Null).await;
    assert_eq!(
        (status, body),
        (
            200,
            json!({"data": [], "iterator": null, "prevIterator": null, "done": true})
        )
    );
}

#[tokio::test]
async fn a_message_keeps_its_exact_bytes_and_is_recorded_once() {
    let server = Server::start();
    server
        .ask(APP, json!({"name": "Mine", "uid": "mine"}))
        .await;
    let body =
        r#"{"eventType":"a.b","eventId":"e1","payload":{"z": 10.00, "a":12345678901234567890123}}"#;
    let first = server.ask_with(MSG, body, ("idempotency-key", "k")).await;
    assert_eq!(first.0, 202);
    assert!(
        first
            .1
            .contains(r#""payload":{"z": 10.00, "a":12345678901234567890123}"#)
    );
    assert_eq!(
        server.ask_with(MSG, body, ("idempotency-key", "k")).await,
        first
    );
    let other = body.replace("e1", "e2");
    assert_eq!(
        server
            .ask_with(MSG, other, ("idempotency-key", "k"))
            .await
            .0,
        422
    );
    assert_eq!(server.ask_with(MSG, body, ("x-none", "")).await.0, 409);
    let (_, kept, _) = server
        .ask_with("GET /api/v1/app/mine/msg/e1", "", ("x-none", ""))
        .await;
    assert_eq!(kept, first.1);
    let (_, list) = server
        .ask("GET /api/v1/app/mine/msg?with_content=false", Value::Null)
        .await;
    assert_eq!(list["data"].as_array().unwrap().len(), 1);
    assert_eq!(list["data"][0]["payload"], json!({}));
}

#[tokio::test]
async fn an_application_can_come_with_its_first_message() {
    let server = Server::start();
    let message = json!({"eventType": "a", "payload": {}});
    assert_eq!(server.ask(MSG, message.clone()).await.0, 404);
    let mut with = message;
    with["application"] = json!({"name": "Mine", "uid": "mine"});
    assert_eq!(server.ask(MSG, with.clone()).await.0, 202);
    assert_eq!(server.ask(MSG, with).await.0, 202);
    assert_eq!(
        server.ask("GET /api/v1/app/mine", Value::Null).await.1["name"],
        "Mine"
    );
}

#[tokio::test]
async fn endpoints_rotate_their_secret_and_hide_headers() {
    let server = Server::start();
    server
        .ask(APP, json!({"name": "Mine", "uid": "mine"}))
        .await;
    let at = "/api/v1/app/mine/endpoint";
    let new = json!({"url": "https://a.example/", "uid": "e", "headers": {"Authorization": "x", "X-A": "1"}});
    assert_eq!(server.ask(&format!("POST {at}"), new.clone()).await.0, 201);
    assert_eq!(server.ask(&format!("POST {at}"), new).await.0, 409);
    let (_, headers) = server
        .ask(&format!("GET {at}/e/headers"), Value::Null)
        .await;
    assert_eq!(
        headers,
        json!({"headers": {"X-A": "1"}, "sensitive": ["Authorization"]})
    );
    for _ in 0..10 {
        let (status, key) = server
            .ask(&format!("POST {at}/e/secret/rotate"), Value::Null)
            .await;
        assert_eq!(status, 200);
        assert_eq!(
            server
                .ask(&format!("GET {at}/e/secret"), Value::Null)
                .await
                .1,
            key
        );
    }
    let (status, refused) = server
        .ask(&format!("POST {at}/e/secret/rotate"), json!({}))
        .await;
    assert_eq!((status, &refused["code"]), (400, &json!("limit_reached")));
}

#[tokio::test]
async fn a_source_keeps_its_secrets_and_its_forward_address() {
    let server = Server::start();
    let new = json!({"name": "gh", "provider": "github", "secrets": ["s3cret"], "forward": ["http://127.0.0.1:1/"]});
    let (status, made) = server.ask("POST /api/v1/source", new.clone()).await;
    assert_eq!((status, &made["secretCount"]), (201, &json!(1)));
    assert_eq!(server.ask("POST /api/v1/source", new).await.0, 409);
    let (status, put) = server
        .ask("PUT /api/v1/source/gh", json!({"provider": "github"}))
        .await;
    assert_eq!(
        (status, &put["secretCount"], &put["forward"]),
        (200, &json!(1), &made["forward"])
    );
    assert!(!put.to_string().contains("s3cret"));
    let forward = "PATCH /api/v1/app/default/endpoint/gh.forward.1";
    assert_eq!(
        server
            .ask(forward, json!({"url": "https://b.example/"}))
            .await
            .0,
        409
    );
    assert_eq!(server.ask(forward, json!({"disabled": false})).await.0, 200);
    assert_eq!(
        server.ask("DELETE /api/v1/source/gh", Value::Null).await.0,
        204
    );
}

#[tokio::test]
async fn a_revoked_token_opens_nothing() {
    let server = Server::start();
    let (status, token) = server
        .ask("POST /api/v1/token", json!({"name": "ci"}))
        .await;
    assert_eq!(status, 201);
    let list = async || {
        let bearer = format!("Bearer {}", token["token"].as_str().unwrap());
        let request = Request::builder()
            .uri("/api/v1/token")
            .header("authorization", bearer);
        server.send(request.body(Body::empty()).unwrap()).await
    };
    let (status, body, _) = list().await;
    assert_eq!(status, 200);
    assert!(!body.contains("hbt_"));
    let id = token["id"].as_str().unwrap();
    assert_eq!(
        server
            .ask(&format!("DELETE /api/v1/token/{id}"), Value::Null)
            .await
            .0,
        204
    );
    assert_eq!(list().await.0, 401);
}

#[tokio::test]
async fn hostile_input_is_the_callers_fault() {
    let server = Server::start();
    server
        .ask(APP, json!({"name": "Mine", "uid": "mine"}))
        .await;
    let deep = format!(
        r#"{{"eventType":"a","payload":{{"a":{}{}}}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let large = format!(r#"{{"name":"{}"}}"#, "x".repeat(1024 * 1024));
    for (what, body, status) in [
        (MSG, deep.as_str(), 400),
        (MSG, "{", 400),
        (MSG, r#"{"eventType":"a","payload":{}}{}"#, 400),
        (MSG, r#"{"eventType":"a..b","payload":{}}"#, 422),
        (MSG, r#"{"eventType":"a","payload":{},"id":"msg_1"}"#, 422),
        (MSG, r#"{"eventType":"a","payload":{"\u0000":1e400}}"#, 202),
        (APP, large.as_str(), 413),
        (APP, r#"{"name":"\u0000"}"#, 422),
        (APP, r#"{"name":"a","createdAt":"now"}"#, 422),
        ("GET /api/v1/app/%00", "", 404),
        ("GET /api/v1/app/..%2f", "", 404),
        ("GET /api/v1/app?limit=251", "", 422),
        ("GET /api/v1/app?iterator=msg_00", "", 422),
        ("GET /api/v1/app/mine/msg?after=2023-01-01", "", 422),
        ("GET /api/v1/app/mine/msg?tag=x", "", 422),
        ("POST /api/v1/app/mine/dead/discard", "{}", 422),
        (
            "POST /api/v1/source",
            r#"{"name":"A.b","provider":"github","secrets":["s"]}"#,
            422,
        ),
        (
            "PUT /api/v1/source/A.b",
            r#"{"provider":"github","secrets":["s"]}"#,
            422,
        ),
    ] {
        let (found, said, _) = server.ask_with(what, body.to_owned(), ("x-none", "")).await;
        assert_eq!(found, status, "{what} {said}");
        assert!(
            serde_json::from_str::<serde::de::IgnoredAny>(&said).is_ok(),
            "{what}"
        );
    }
    let text = server
        .ask_with(MSG, "{}", ("content-encoding", "gzip"))
        .await;
    assert_eq!(text.0, 415);
}
