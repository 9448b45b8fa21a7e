//! `hookbox bench`: how fast a server is, beside a server that keeps nothing, on the same machine.
//!
//! Load and sink are one process, so that one clock tells when a message was sent and when it arrived.

mod calls;
mod compare;
mod drive;
mod floor;
mod ledger;
mod load;
mod process;
mod quantiles;
mod recv;
mod report;
mod send;
mod sink;
mod target;
mod wire;

use std::collections::BTreeMap;

use clap::Subcommand;

use super::error::Error;
use super::out::Out;
use crate::settings::{Faults, Given};

#[derive(Debug, Subcommand)]
pub(super) enum Bench {
    /// Send messages through the API, and wait until all have arrived
    #[command(
        after_help = "The server must be allowed to reach the sink:\n  HOOKBOX_ALLOW_HTTP=true HOOKBOX_EGRESS_ALLOW=127.0.0.0/8 hookbox serve\n\nExample:\n  hookbox bench send --messages 30000"
    )]
    Send(send::Send),
    /// Post signed Stripe events to a source
    #[command(
        after_help = "Example:\n  hookbox bench recv --url http://127.0.0.1:8080/in/stripe --secret whsec_…"
    )]
    Recv(recv::Recv),
    /// Serve what `send` and `recv` ask for, and keep nothing: the limit of this machine
    #[command(
        after_help = "Example:\n  hookbox bench floor &\n  hookbox bench send --server http://127.0.0.1:9800 --token any"
    )]
    Floor(floor::Floor),
    /// Measure a throw-away server and the floor in turn, and print the ratio
    #[command(after_help = "Example:\n  hookbox bench compare --rounds 3")]
    Compare(compare::Compare),
}

pub(super) async fn run(
    out: &mut Out,
    bench: Bench,
    given: impl FnOnce(BTreeMap<&'static str, String>) -> Result<Given, Faults>,
) -> Result<(), Error> {
    match bench {
        Bench::Send(send) => {
            let caller = given(send.flags.given)?.caller()?;
            let report = send::measure(out, caller, &send.how).await?;
            report::show(out, &report, send.how.load.json)
        }
        Bench::Recv(recv) => {
            let report = recv::measure(out, &recv.door, &recv.how).await?;
            report::show(out, &report, recv.how.load.json)
        }
        Bench::Floor(floor) => floor::run(out, floor).await,
        Bench::Compare(compare) => compare::run(out, compare).await,
    }
}
