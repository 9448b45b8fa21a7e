//! `hookbox bench send`: messages through the API, to endpoints of the sink.

use std::net::SocketAddr;
use std::sync::Arc;

use clap::{Args, value_parser};
use serde_json::json;

use super::calls::Messages;
use super::load::{Load, Measurement};
use super::report::Report;
use super::sink::{Manner, Sink};
use super::target::Target;
use crate::cli::client::{Client, encoded};
use crate::cli::error::Error;
use crate::cli::flags::{Calling, Flags};
use crate::cli::out::Out;
use crate::settings::Caller;

const ALLOW: &str = "the server must be allowed to reach the sink; start it with HOOKBOX_ALLOW_HTTP=true and \
                     HOOKBOX_EGRESS_ALLOW=127.0.0.0/8";

#[derive(Args, Debug)]
pub(in crate::cli) struct Send {
    #[command(flatten)]
    pub(super) flags: Flags<Calling>,
    #[command(flatten)]
    pub(super) how: Sending,
}

/// What is sent, and to whom.
#[derive(Args, Clone, Debug)]
pub(super) struct Sending {
    #[command(flatten)]
    pub(super) load: Load,
    /// Endpoints of the application; each message goes to all of them
    #[arg(long, default_value_t = 1, value_parser = value_parser!(u32).range(1..=1000))]
    pub(super) endpoints: u32,
    /// Where the sink listens; a free port when not given
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(super) sink: SocketAddr,
    #[command(flatten)]
    pub(super) manner: Manner,
}

/// Sends on an application of its own, which is deleted afterwards.
pub(super) async fn measure(out: &mut Out, caller: Caller, how: &Sending) -> Result<Report, Error> {
    let target = Target::find(&caller.url, how.load.anywhere).await?;
    let token = caller.token.clone();
    let sink = Sink::start(how.sink, how.manner, how.load.anywhere).await?;
    let client = Client::new(caller);
    let app = client
        .post("/api/v1/app", &json!({"name": "hookbox bench"}))
        .await?;
    let path = format!(
        "/api/v1/app/{}",
        encoded(app["id"].as_str().unwrap_or_default())
    );
    let messages = format!("{path}/msg");
    let calls = Messages::new(&target, &messages, token.as_ref(), how.load.size)?;
    let measurement = Measurement {
        mode: "send",
        target: &target,
        calls: Arc::new(calls),
        load: &how.load,
        repeats: 1,
        sink: Some(&sink),
        endpoints: how.endpoints,
        lose: how.manner.lose,
    };
    let measured = match endpoints(&client, &path, &sink, how.endpoints).await {
        Ok(()) => run(out, &measurement).await,
        Err(error) => Err(error),
    };
    // Else the server would try for days to reach a sink that is gone.
    let deleted = client.delete(&path).await;
    let report = measured?;
    deleted.map(|_| report)
}

async fn endpoints(client: &Client, path: &str, sink: &Sink, count: u32) -> Result<(), Error> {
    for number in 0..count {
        let url = format!("http://{}/{number}", sink.address);
        let made = client
            .post(&format!("{path}/endpoint"), &json!({"url": url}))
            .await;
        made.map_err(|error| match error {
            Error::Failed(said) => Error::Failed(format!("{said}\n{ALLOW}")),
            other => other,
        })?;
    }
    Ok(())
}

async fn run(out: &mut Out, measurement: &Measurement<'_>) -> Result<Report, Error> {
    let first = measurement.warm_up(out).await?;
    first.check().map_err(|error| {
        let arrived = first
            .arrivals
            .as_ref()
            .is_some_and(|found| found.arrived > 0);
        let hint = match first.errors.is_empty() && !arrived {
            true => format!("\nNothing arrived at the sink; {ALLOW}"),
            false => String::new(),
        };
        Error::Failed(format!("while warming up: {error}{hint}"))
    })?;
    Ok(measurement.measure(out).await)
}
