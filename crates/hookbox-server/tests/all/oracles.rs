//! What the official packages of other languages say. They are in `tests/oracles`; `scripts/test` installs
//! them and then asks for these tests.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use hookbox_testkit::process::{ADMIN_TOKEN, Port};
use hookbox_testkit::sign::{GITHUB_SECRET, SHOPIFY_SECRET, STANDARD_SECRET, STRIPE_SECRET};
use tokio::process::Command;

use crate::given;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracles")
}

/// Runs a script that listens on a port of its own, beside a server that forwards to that port; returns what it
/// said.
async fn ask(program: &Path, script: &str) -> String {
    let port = Port::free();
    let sink = port.address();
    let sources = ["stripe", "shopify", "github", "standard-webhooks"]
        .into_iter()
        .zip([
            STRIPE_SECRET,
            SHOPIFY_SECRET,
            GITHUB_SECRET,
            STANDARD_SECRET,
        ]);
    let config: String = sources
        .map(|(provider, secret)| {
            given::source(
                provider,
                &[secret],
                Some(&format!("http://{sink}/{provider}")),
            )
        })
        .collect();
    let server = given::setup().config(&config).start().await;
    let asked = Command::new(program)
        .arg(script)
        .current_dir(folder())
        .env("HOOKBOX_URL", format!("http://{}", server.address()))
        .env("HOOKBOX_TOKEN", ADMIN_TOKEN)
        .env("SINK_PORT", sink.port().to_string())
        .env("STRIPE_SECRET", STRIPE_SECRET)
        .env("SHOPIFY_SECRET", SHOPIFY_SECRET)
        .env("GITHUB_SECRET", GITHUB_SECRET)
        .env("STANDARD_SECRET", STANDARD_SECRET)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await;
    let Output {
        status,
        stdout,
        stderr,
    } = match asked {
        Ok(output) => output,
        Err(error) => panic!(
            "{} is not there ({error}); `scripts/test` installs it",
            program.display()
        ),
    };
    let (out, err) = (
        String::from_utf8_lossy(&stdout),
        String::from_utf8_lossy(&stderr),
    );
    assert!(status.success(), "{script}: {status}\n{out}\n{err}");
    out.into_owned()
}

#[tokio::test]
#[ignore = "needs node and the packages of tests/oracles; scripts/test has them"]
async fn javascript() {
    println!("{}", ask(Path::new("node"), "oracle.mjs").await);
}

#[tokio::test]
#[ignore = "needs python and the packages of tests/oracles; scripts/test has them"]
async fn python() {
    println!(
        "{}",
        ask(&folder().join(".venv/bin/python"), "oracle.py").await
    );
}
