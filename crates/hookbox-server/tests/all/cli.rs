//! The terminal: every verb against a running server, and the exit codes that scripts rely on.

use std::process::Output;

use hookbox_testkit::process::Setup;
use hookbox_testkit::{Server, Sink};
use serde_json::{Value, json};

use crate::given;

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}

async fn succeeds(setup: &Setup, arguments: &[&str]) -> String {
    let output = setup.run(arguments).await;
    assert!(
        output.status.success(),
        "hookbox {arguments:?}: {}",
        text(&output)
    );
    String::from_utf8(output.stdout).expect("text")
}

/// The one JSON document that a verb prints with `--json`.
async fn json_of(server: &Server, arguments: &[&str]) -> Value {
    let arguments = [arguments, &["--json"]].concat();
    let output = succeeds(server.setup(), &arguments).await;
    match serde_json::from_str(&output) {
        Ok(value) => value,
        Err(error) => panic!("hookbox {arguments:?}: {error}: {output}"),
    }
}

async fn exit_code(setup: &Setup, arguments: &[&str]) -> i32 {
    let output = setup.run(arguments).await;
    assert!(!text(&output).contains("panicked"), "{}", text(&output));
    output.status.code().expect("it ends by itself")
}

#[tokio::test]
async fn help_names_every_verb() {
    let setup = given::setup();
    let help = succeeds(&setup, &["--help"]).await;
    for verb in [
        "serve",
        "demo",
        "migrate",
        "doctor",
        "settings",
        "healthcheck",
        "token",
        "source",
        "app",
        "endpoint",
        "message",
        "attempt",
        "dead",
    ] {
        assert!(help.contains(verb), "{verb}: {help}");
        let of_verb = succeeds(&setup, &[verb, "--help"]).await;
        assert!(of_verb.contains("Usage"), "{verb}: {of_verb}");
    }
    assert!(
        succeeds(&setup, &["--version"])
            .await
            .contains(env!("CARGO_PKG_VERSION"))
    );
}

#[tokio::test]
async fn a_message_from_the_terminal() {
    let sink = Sink::start().await;
    let server = given::setup()
        .env("HOOKBOX_RETRY_SCHEDULE", "10ms")
        .start()
        .await;
    let setup = server.setup();
    let app = json_of(&server, &["app", "create", "Acme", "--uid", "acme"]).await;
    assert_eq!(app["uid"], json!("acme"));
    let endpoint = json_of(&server, &["endpoint", "create", "acme", &sink.url("/")]).await;
    let endpoint = endpoint["id"].as_str().expect("an id");
    let secret = json_of(&server, &["endpoint", "secret", "acme", endpoint]).await;
    assert!(
        secret["key"]
            .as_str()
            .is_some_and(|key| key.starts_with("whsec_")),
        "{secret}"
    );

    let payload = r#"{"id": "inv_1", "amount": 10.00}"#;
    let message = json_of(
        &server,
        &["message", "create", "acme", "invoice.paid", payload],
    )
    .await;
    let id = message["id"].as_str().expect("an id");
    assert_eq!(sink.wait_for(1).await[0].body, payload);

    let messages = json_of(&server, &["message", "list", "acme"]).await;
    assert_eq!(messages["data"][0]["id"], json!(id));
    hookbox_testkit::clock::eventually("the attempt is shown", || async {
        let attempts = json_of(
            &server,
            &["attempt", "list", "acme", "--endpoint", endpoint],
        )
        .await;
        (attempts["data"][0]["msgId"] == json!(id)).then_some(())
    })
    .await;
    for verb in ["app", "source", "token"] {
        let listed = json_of(&server, &[verb, "list"]).await;
        assert!(listed["data"].is_array(), "{verb}: {listed}");
    }
    assert!(succeeds(setup, &["app", "list"]).await.contains("acme"));
    succeeds(setup, &["healthcheck"]).await;
}

#[tokio::test]
async fn dead_letters_from_the_terminal() {
    let sink = Sink::start().await;
    let server = given::setup()
        .env("HOOKBOX_RETRY_SCHEDULE", "10ms")
        .start()
        .await;
    given::endpoint(&server.client(), "acme", &sink.url("/")).await;
    sink.script([500_u16, 500]);
    let id = given::message(&server.client(), "acme", &json!({})).await;
    hookbox_testkit::clock::eventually("it is a dead letter", || async {
        let dead = json_of(&server, &["dead", "list", "acme"]).await;
        (dead["data"][0]["messageId"] == json!(id)).then_some(())
    })
    .await;
    succeeds(server.setup(), &["dead", "replay", "acme", "--all"]).await;
    sink.wait_for(3).await;
}

#[tokio::test]
async fn exit_codes_say_what_went_wrong() {
    let server = given::setup().start().await;
    let setup = server.setup();
    assert_eq!(exit_code(setup, &["no-such-verb"]).await, 2);
    assert_eq!(exit_code(setup, &["app", "get", "nobody"]).await, 3);
    assert_eq!(
        exit_code(setup, &["app", "list", "--token", "wrong"]).await,
        4
    );
    let nowhere = ["app", "list", "--server", "http://127.0.0.1:1"];
    assert_eq!(exit_code(setup, &nowhere).await, 5);
    let down = given::setup();
    assert_ne!(exit_code(&down, &["healthcheck"]).await, 0);
}

#[tokio::test]
async fn settings_hide_secrets() {
    let setup = given::setup().env(
        "HOOKBOX_ADMIN_TOKEN",
        "canary_0123456789abcdef0123456789abcdef",
    );
    let shown = succeeds(&setup, &["settings"]).await;
    assert!(
        shown.contains("HOOKBOX_LISTEN") || shown.contains("listen"),
        "{shown}"
    );
    assert!(!shown.contains("canary"), "{shown}");
}

#[tokio::test]
async fn a_setting_that_does_not_exist_is_named() {
    let setup = given::setup().config("listem = \"127.0.0.1:0\"\n");
    let log = setup.try_start().await.expect_err("an unknown setting");
    assert!(log.contains("listem") && log.contains("listen"), "{log}");
}

#[tokio::test]
async fn the_demo_succeeds() {
    let setup = given::setup();
    let shown = succeeds(&setup, &["demo", "--exit"]).await;
    for told in [
        "\"duplicate\":true",
        "once, byte for byte",
        "Try 3",
        "taken, signature valid",
    ] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
}
