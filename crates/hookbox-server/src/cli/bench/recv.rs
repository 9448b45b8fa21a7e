//! `hookbox bench recv`: Stripe's events, to a source.

use std::net::SocketAddr;
use std::sync::Arc;

use clap::{Args, value_parser};

use super::calls::Events;
use super::load::{Load, Measurement};
use super::report::Report;
use super::sink::{Manner, Sink};
use super::target::Target;
use crate::cli::error::Error;
use crate::cli::out::Out;

#[derive(Args, Debug)]
pub(in crate::cli) struct Recv {
    #[command(flatten)]
    pub(super) door: Door,
    #[command(flatten)]
    pub(super) how: Receiving,
}

/// A source of the provider `stripe`.
#[derive(Args, Clone, Debug)]
pub(super) struct Door {
    /// Its address, for example <http://127.0.0.1:8080/in/stripe>
    #[arg(long)]
    pub(super) url: String,
    /// Its secret
    #[arg(long)]
    pub(super) secret: String,
}

/// What is posted.
#[derive(Args, Clone, Debug)]
pub(super) struct Receiving {
    #[command(flatten)]
    pub(super) load: Load,
    /// Post every event so often, in random order
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = value_parser!(u32).range(1..=100))]
    pub(super) repeats: u32,
    /// Where a sink listens: the address that the source forwards to. Without it, only answers are measured
    #[arg(long, value_name = "ADDRESS")]
    pub(super) sink: Option<SocketAddr>,
    #[command(flatten)]
    pub(super) manner: Manner,
}

pub(super) async fn measure(out: &mut Out, door: &Door, how: &Receiving) -> Result<Report, Error> {
    let target = Target::find(&door.url, how.load.anywhere).await?;
    let sink = match how.sink {
        Some(address) => Some(Sink::start(address, how.manner, how.load.anywhere).await?),
        None => None,
    };
    let measurement = Measurement {
        mode: "recv",
        target: &target,
        calls: Arc::new(Events::new(&target, &door.secret, how.load.size)?),
        load: &how.load,
        repeats: how.repeats,
        sink: sink.as_ref(),
        endpoints: 1,
        lose: how.manner.lose,
    };
    let first = measurement.warm_up(out).await?;
    first
        .check()
        .map_err(|error| explain(&first, &door.url, &error))?;
    Ok(measurement.measure(out).await)
}

/// Says what may be wrong when not even the first events were taken.
fn explain(first: &Report, url: &str, error: &Error) -> Error {
    let refused = |status: &str| first.errors.contains_key(status);
    if refused("404") {
        return Error::NotFound(format!("there is no source at {url}"));
    }
    if refused("400") || refused("401") || refused("403") {
        return Error::Failed(format!(
            "{url} refuses the signature; is it a source of the provider stripe, and --secret one of its secrets?"
        ));
    }
    let hint = match &first.arrivals {
        Some(found) if found.arrived == 0 && first.errors.is_empty() => {
            "\nNothing arrived at the sink; does the source forward to the address given as --sink?"
        }
        _ => "",
    };
    Error::Failed(format!("while warming up: {error}{hint}"))
}
