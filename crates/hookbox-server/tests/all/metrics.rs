//! What operators see: exact counters, true ages, and answers in time whatever the database does.

mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use hookbox_testkit::clock::{eventually, unix_now};
use hookbox_testkit::{Answer, Client, Server, Sink, sign};
use http::Method;
use serde_json::json;

use self::page::Page;
use crate::given;

const IN_TIME: Duration = Duration::from_secs(1);
const SOURCE: &str = "named-by-somebody";

async fn scraped(client: &Client) -> Page {
    let reply = client.get("/metrics").await;
    assert_eq!(reply.status, 200);
    let kind = &reply.headers["content-type"];
    assert_eq!(kind, "text/plain; version=0.0.4; charset=utf-8");
    Page::read(std::str::from_utf8(&reply.body).expect("text"))
}

/// A server with a source whose name nobody foresaw, and an endpoint of strangers that may not be reached.
async fn inbox(sink: &Sink) -> Server {
    let source = given::source(
        "stripe",
        &[sign::STRIPE_SECRET],
        Some(&sink.url("/hook-path")),
    )
    .replace("name = \"stripe\"", &format!("name = \"{SOURCE}\""));
    let mut server = given::setup().config(&source).start().await;
    given::endpoint(
        &server.client(),
        "acme",
        "http://localhost:8099/secret-path",
    )
    .await;
    server.terminate().await;
    // What was allowed when the endpoint was made no longer is.
    let setup = server.setup().clone();
    setup
        .env("HOOKBOX_EGRESS_ALLOW", "127.0.0.9/32")
        .start()
        .await
}

/// Sends what the exact counters are known of.
async fn traffic(server: &Server, sink: &Sink) {
    let stranger = server.stranger();
    let event = |id: &str| sign::stripe_event(id);
    stranger.event(SOURCE, &event("evt_1")).await.expect(200);
    sink.wait_for(1).await;
    stranger.event(SOURCE, &event("evt_1")).await.expect(200);
    stranger.event(SOURCE, &event("evt_1")).await.expect(200);
    let other_bytes = sign::stripe(sign::STRIPE_SECRET, br#"{"id": "evt_1", "type": "b"}"#);
    stranger.event(SOURCE, &other_bytes).await.expect(200);
    let forged = sign::stripe("whsec_of_somebody_else", b"{}");
    stranger.event(SOURCE, &forged).await.expect(400);
    stranger.event(SOURCE, &forged).await.expect(400);
    let stale = sign::stripe_at(sign::STRIPE_SECRET, unix_now() - 4000, b"{}");
    stranger.event(SOURCE, &stale).await.expect(400);
    stranger.event("nowhere", &stale).await.expect(404);
    stranger.get(&format!("/in/{SOURCE}")).await.expect(405);
    // Four tries fail, and that was all of them.
    sink.script([500_u16, 404, 302, 503]);
    stranger.event(SOURCE, &event("evt_2")).await.expect(200);
    sink.wait_for(5).await;
    given::message(&server.client(), "acme", &json!({})).await;
}

#[tokio::test]
async fn every_counter_is_exact_and_tells_no_names() {
    let sink = Sink::start().await;
    let server = inbox(&sink).await;
    traffic(&server, &sink).await;
    let page = eventually("everything is settled", || async {
        let page = scraped(&server.stranger()).await;
        let settled = page.value("hookbox_delivery_exhausted_total") == 1.0
            && page.value("hookbox_ssrf_blocked_total") == 1.0
            && page.value("hookbox_node_slots") == 0.0;
        settled.then_some(page)
    })
    .await;
    let counted = |pairs: &[(&'static str, f64)]| BTreeMap::from_iter(pairs.iter().copied());
    assert_eq!(
        page.of("hookbox_received_total"),
        counted(&[
            ("source_type=\"stripe\",result=\"recorded\"", 2.0),
            ("source_type=\"stripe\",result=\"duplicate\"", 2.0),
            ("source_type=\"stripe\",result=\"quarantined\"", 1.0),
            ("source_type=\"stripe\",result=\"refused\"", 4.0),
            ("source_type=\"unknown\",result=\"refused\"", 1.0),
            ("source_type=\"api\",result=\"recorded\"", 1.0),
        ])
    );
    assert_eq!(
        page.of("hookbox_signature_failures_total"),
        counted(&[
            ("reason=\"signature_mismatch\"", 2.0),
            ("reason=\"timestamp_too_old\"", 1.0)
        ])
    );
    assert_eq!(
        page.of("hookbox_delivery_attempts_total"),
        counted(&[
            ("outcome=\"delivered\",status_class=\"2xx\"", 1.0),
            ("outcome=\"rejected\",status_class=\"3xx\"", 1.0),
            ("outcome=\"rejected\",status_class=\"4xx\"", 1.0),
            ("outcome=\"rejected\",status_class=\"5xx\"", 2.0),
            ("outcome=\"target_not_allowed\",status_class=\"none\"", 1.0),
        ])
    );
    for (series, value) in [
        ("hookbox_duplicates_total", 2.0),
        ("hookbox_receive_duration_seconds_count", 10.0),
        ("hookbox_delivery_duration_seconds_count", 6.0),
        ("hookbox_queue_latency_seconds_count", 3.0),
        ("hookbox_node_bytes", 0.0),
    ] {
        assert_eq!(page.value(series), value, "{series}");
    }
    let commits = page.value("hookbox_store_commit_seconds_count");
    assert!(commits > 5.0 && commits == page.value("hookbox_store_batch_size_count"));
    assert_eq!(page.of("hookbox_store_errors_total"), counted(&[]));
    for series in page.series.keys() {
        for private in [
            SOURCE,
            "http",
            "127.0.0",
            "localhost",
            "whsec",
            "-path",
            "acme",
            "msg_",
        ] {
            assert!(!series.contains(private), "{series}");
        }
    }
}

#[tokio::test]
async fn what_is_shown_is_documented_and_the_other_way_round() {
    let server = given::setup().start().await;
    let shown = scraped(&server.stranger()).await;
    let pages = include_str!("../../../../docs/metrics.md");
    let documented: BTreeSet<_> = pages
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    let shown: BTreeSet<_> = shown.families.keys().map(String::as_str).collect();
    assert_eq!(shown, documented);
}

#[tokio::test]
async fn prometheus_gets_the_form_that_it_asks_for() {
    let server = given::setup().start().await;
    let accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.3";
    let header = [("accept".to_owned(), accept.to_owned())];
    let client = server.stranger();
    let reply = client.send(Method::GET, "/metrics", &header, b"").await;
    let kind = &reply.headers["content-type"];
    assert_eq!(
        kind,
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    let text = std::str::from_utf8(&reply.body).expect("text");
    assert!(text.ends_with("# EOF\n"));
    let page = Page::read(text);
    assert_eq!(page.families["hookbox_duplicates"], "counter");
    assert!(page.value("process_resident_memory_bytes") > 1e6);
    assert!(page.value("process_start_time_seconds") > 1.7e9);
    assert!(page.value("process_open_fds") > 3.0);
    assert_eq!(page.of("hookbox_build_info").len(), 1);
}

#[tokio::test]
async fn the_queue_is_seen_while_receivers_hang() {
    let sink = Sink::start().await;
    sink.otherwise(Answer::from(200).held());
    let server = given::setup()
        .env("HOOKBOX_ENDPOINT_CONCURRENCY", "1")
        .start()
        .await;
    let client = server.client();
    let disabled = given::endpoint(&client, "off", &sink.url("/")).await;
    let path = format!(
        "/api/v1/app/off/endpoint/{}",
        disabled["id"].as_str().expect("an id")
    );
    let change = json!({"url": sink.url("/"), "disabled": true});
    client.put(&path, &change).await.expect(200);
    given::message(&client, "off", &json!({})).await;
    given::endpoint(&client, "acme", &sink.url("/")).await;
    // One is tried and three are next in line; nobody has taken the other two.
    for n in 0..6 {
        given::message(&client, "acme", &json!({ "n": n })).await;
    }
    sink.wait_for(1).await;
    let queue = server.stranger().get("/queue").await.expect(200);
    let age = queue["oldest_due_age_seconds"].as_f64().expect("a number");
    assert!(age > 0.0 && age < 60.0, "{queue}");
    let expected = json!({"oldest_due_age_seconds": age, "due": 2, "leased": 4, "held": 1});
    assert_eq!(queue, expected);

    let page = scraped(&server.stranger()).await;
    let depth = BTreeMap::from([
        ("state=\"due\"", 2.0),
        ("state=\"leased\"", 4.0),
        ("state=\"held\"", 1.0),
    ]);
    assert_eq!(page.of("hookbox_queue_depth"), depth);
    let ages = page.of("hookbox_queue_oldest_age_seconds");
    assert!(
        ages["state=\"due\""] >= age && ages["state=\"held\""] >= age,
        "{ages:?}"
    );
    assert_eq!(page.value("hookbox_node_slots"), 4.0);
    assert!(page.value("hookbox_node_bytes") > 0.0);
    sink.release();
}

#[tokio::test]
async fn a_database_that_hangs_holds_no_watcher_up() {
    let server = given::setup().start().await;
    let client = server.stranger();
    assert_eq!(client.get("/readyz").await.body, "ready\n");
    let other = rusqlite::Connection::open(server.setup().path("hookbox.db")).expect("the file");
    other.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    let asked = Instant::now();
    let reply = client.get("/readyz").await;
    assert!(asked.elapsed() < IN_TIME, "{:?}", asked.elapsed());
    let parts = &reply.expect(503)["parts"];
    assert_eq!(*parts, json!({"server": "ok", "database": "slow"}));
    let asked = Instant::now();
    scraped(&client).await;
    assert_eq!(client.get("/livez").await.body, "alive\n");
    assert!(asked.elapsed() < IN_TIME, "{:?}", asked.elapsed());
    other.execute_batch("ROLLBACK").expect("no lock");
    eventually("the database works again", || async {
        (client.get("/readyz").await.status == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_database_that_refuses_is_seen() {
    let wrapper = ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"];
    let server = given::setup().wrapped(&wrapper).start().await;
    server.set_files_writable(false);
    let client = server.client();
    let new = json!({"name": "acme"});
    let refused = client.post("/api/v1/app", &new).await;
    assert_eq!(refused.status, 503);
    let ready = client.get("/readyz").await.expect(503);
    let parts = json!({"server": "ok", "database": "error"});
    assert_eq!(ready["parts"], parts);
    let page = scraped(&client).await;
    assert!(page.value("hookbox_store_errors_total{operation=\"commit\"}") >= 2.0);
    server.set_files_writable(true);
    assert_eq!(client.get("/readyz").await.status, 200);
}

#[tokio::test]
async fn figures_are_for_who_shows_the_token() {
    let token = "metrics-token-of-the-tests";
    let server = given::setup()
        .env("HOOKBOX_METRICS_TOKEN", token)
        .start()
        .await;
    for path in ["/metrics", "/queue"] {
        for stranger in [server.stranger(), server.client()] {
            let refused = stranger.get(path).await;
            assert_eq!(refused.code(), "authentication_failed");
            assert_eq!(refused.status, 401);
            assert_eq!(refused.headers["www-authenticate"], "Bearer");
        }
        let known = server.stranger().with_token(token);
        assert_eq!(known.get(path).await.status, 200);
        let post = known.post(path, &json!({})).await;
        assert_eq!(
            (post.status.as_u16(), post.code().as_str()),
            (405, "method_not_allowed")
        );
    }
    assert_eq!(server.stranger().get("/readyz").await.status, 200);
}
