//! The product's own load generator: that it counts rightly. How fast anything is, no test says.

use hookbox_testkit::process::{Port, Setup};
use hookbox_testkit::sign::STRIPE_SECRET;
use serde_json::{Value, json};

use crate::given;

/// Runs `hookbox bench …`; returns its exit code, and what it said: its JSON, or its error.
async fn bench(setup: &Setup, arguments: &[&str]) -> (i32, Value) {
    let output = setup.run(&[&["bench"], arguments].concat()).await;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!error.contains("panicked"), "{error}");
    let found = serde_json::from_str(&said).unwrap_or(Value::String(said + &error));
    (output.status.code().expect("it ends by itself"), found)
}

/// The named fields of a report.
fn fields<const N: usize>(report: &Value, names: [&str; N]) -> [Value; N] {
    names.map(|name| report[name].clone())
}

#[tokio::test]
async fn all_that_was_sent_arrives() {
    let server = given::setup().start().await;
    let many = ["send", "--messages", "500", "--endpoints", "2", "--json"];
    let (code, report) = bench(server.setup(), &many).await;
    let counts = ["accepted", "arrived", "missing", "repeated", "complete"];
    let expected = json!([500, 1000, 0, 0, true]);
    assert_eq!(json!(fields(&report, counts)), expected, "{report}");
    assert_eq!(report["errors"], json!({}));
    assert_eq!(code, 0);
    let apps = server.client().get("/api/v1/app").await.expect(200);
    assert_eq!(apps["data"], json!([]), "it leaves nothing to be tried");
}

#[tokio::test]
async fn one_that_is_lost_is_reported() {
    let server = given::setup().start().await;
    let lossy = [
        "send",
        "--messages",
        "500",
        "--lose",
        "1",
        "--patience",
        "2",
        "--json",
    ];
    let (code, report) = bench(server.setup(), &lossy).await;
    let counts = ["accepted", "arrived", "missing", "complete"];
    let expected = json!([500, 499, 1, false]);
    assert_eq!(json!(fields(&report, counts)), expected, "{report}");
    assert_eq!(code, 1);
}

#[tokio::test]
async fn events_that_are_repeated_arrive_once() {
    let port = Port::free();
    let sink = port.address().to_string();
    let forward = format!("http://{sink}/stripe");
    let server = given::setup()
        .config(&given::source("stripe", &[STRIPE_SECRET], Some(&forward)))
        .start()
        .await;
    let url = format!("http://{}/in/stripe", server.address());
    let door = ["recv", "--url", &url, "--secret", STRIPE_SECRET];
    let how = [
        "--messages",
        "200",
        "--repeats",
        "3",
        "--sink",
        &sink,
        "--json",
    ];
    let (code, report) = bench(server.setup(), &[&door[..], &how].concat()).await;
    let counts = ["accepted", "arrived", "missing", "repeated", "complete"];
    let expected = json!([200, 200, 0, 0, true]);
    assert_eq!(json!(fields(&report, counts)), expected, "{report}");
    assert_eq!(code, 0);

    let wrong = ["recv", "--url", &url, "--secret", "whsec_wrong"];
    let (code, said) = bench(server.setup(), &wrong).await;
    assert!(said.to_string().contains("--secret"), "{said}");
    assert_eq!(code, 1);
}

#[tokio::test]
async fn a_server_is_compared_with_the_floor() {
    let small = [
        "compare",
        "--messages",
        "200",
        "--rate",
        "100",
        "--seconds",
        "1",
        "--json",
    ];
    let (code, round) = bench(&given::setup(), &small).await;
    for side in ["floor", "server"] {
        for run in ["send", "recv", "paced"] {
            let report = &round[side][run];
            assert_eq!(report["complete"], json!(true), "{side} {run}: {report}");
        }
        assert_eq!(round[side]["send"]["arrived"], json!(200));
    }
    assert!(
        round["ratio"]["send"].as_f64() > Some(0.0),
        "{}",
        round["ratio"]
    );
    assert_eq!(code, 0);
}

#[tokio::test]
async fn what_cannot_be_measured_is_explained() {
    let server = given::setup().env("HOOKBOX_EGRESS_ALLOW", "").start().await;
    let setup = server.setup();
    let (code, said) = bench(setup, &["send"]).await;
    assert!(said.to_string().contains("HOOKBOX_EGRESS_ALLOW"), "{said}");
    assert_eq!(code, 1);
    let (code, said) = bench(setup, &["send", "--token", "wrong"]).await;
    assert_eq!(code, 4, "{said}");
    let nowhere = ["send", "--server", "http://127.0.0.1:1"];
    let (code, said) = bench(setup, &nowhere).await;
    assert_eq!(code, 5, "{said}");
    let elsewhere = ["send", "--server", "http://192.0.2.1:8080"];
    let (code, said) = bench(setup, &elsewhere).await;
    assert!(said.to_string().contains("--anywhere"), "{said}");
    assert_eq!(code, 2);
    let no_source = format!("http://{}/in/none", server.address());
    let (code, said) = bench(setup, &["recv", "--url", &no_source, "--secret", "whsec_x"]).await;
    assert_eq!(code, 3, "{said}");
}
