//! `hookbox demo`: the whole story, on a throw-away database. What it claims it has checked.

mod receiver;
mod story;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use self::receiver::Receiver;
use self::story::Story;
use super::client::Client;
use super::error::Error;
use super::out::Out;
use super::serve::Signals;
use super::server::Server;
use crate::model::Secret;
use crate::settings::{Caller, Given, Settings};
use crate::store::Migrate;

/// The secret that the story's Stripe signs with.
const STRIPE_SECRET: &str = "whsec_demo_stripe_secret";

/// Tells the story; stays up afterwards unless `exit`.
pub(super) async fn run(
    out: &mut Out,
    listen: Option<SocketAddr>,
    exit: bool,
) -> Result<(), Error> {
    let folder = tempfile::tempdir()
        .map_err(|error| Error::Failed(format!("no temporary folder: {error}")))?;
    let failed =
        |error: std::io::Error| Error::Failed(format!("no port for the demo's receiver: {error}"));
    // Your app, and a customer's receiver that is not well at first.
    let app = Receiver::start(&[]).await.map_err(failed)?;
    let customer = Receiver::start(&[500, 503]).await.map_err(failed)?;
    let token = crate::api::new_token();
    let settings = settings(folder.path(), listen, &token, &app, &customer)?;
    let server = Server::start(&settings, Migrate::IfEmpty).await?;
    let url = format!("http://{}", server.address);
    let client = Client::new(Caller {
        url: url.clone(),
        token: Some(Secret::new(&*token)),
    });
    let mut signals = Signals::watch()?;
    out.line(&format!(
        "Hookbox is running at {url}, with a throw-away SQLite database.\n"
    ));
    let mut story = Story {
        out,
        client: &client,
        url: &url,
    };
    let told = tokio::select! {
        told = story.tell(&app, &customer) => told,
        signal = signals.told() => Err(Error::Cut(signal)),
    };
    if told.is_ok() && !exit {
        out.line(&next(&url, &token));
        signals.told().await;
    }
    tokio::select! {
        _ = server.stop() => told,
        signal = signals.told() => told.and(Err(Error::Cut(signal))),
    }
}

fn settings(
    folder: &std::path::Path,
    listen: Option<SocketAddr>,
    token: &str,
    app: &Receiver,
    customer: &Receiver,
) -> Result<Settings, Error> {
    let file = format!(
        "[[source]]\nname = \"stripe\"\nprovider = \"stripe\"\nsecrets = [\"{STRIPE_SECRET}\"]\nforward = [\"{}\"]\n",
        app.url
    );
    let flags = [
        (
            "listen",
            listen.map_or("127.0.0.1:0".to_owned(), |address| address.to_string()),
        ),
        (
            "database",
            format!("sqlite:{}", folder.join("demo.db").display()),
        ),
        ("admin_token", token.to_owned()),
        // The customer of this story lives on this machine, where a real one must not.
        ("egress_allow", customer.address.to_string()),
        ("allow_http", "true".to_owned()),
        ("retry_schedule", "1s,1s".to_owned()),
    ];
    Ok(Given {
        file,
        environment: BTreeMap::new(),
        flags: flags.into_iter().collect(),
        ..Given::default()
    }
    .settings()?)
}

fn next(url: &str, token: &str) -> String {
    format!(
        "Try next, in another terminal:\n\n\
         \x20   export HOOKBOX_URL={url} HOOKBOX_TOKEN={token}\n\
         \x20   hookbox message list demo          # or: cargo run --release -- message list demo\n\
         \x20   hookbox source receipts stripe\n\
         \x20   hookbox message create demo invoice.paid '{{\"id\": \"inv_2\"}}'\n\
         \x20   curl -i -X POST {url}/in/stripe -d '{{}}'   # not signed: refused\n\n\
         Your own: hookbox serve. Ctrl-C ends the demo and throws its database away."
    )
}
