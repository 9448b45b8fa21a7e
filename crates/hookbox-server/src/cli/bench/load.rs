//! One measurement: warm up, send, and wait until everything has arrived.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, value_parser};
use rand::seq::SliceRandom as _;

use super::calls::Calls;
use super::drive::{Course, Driven, drive};
use super::ledger::Ledger;
use super::report::Report;
use super::sink::Sink;
use super::target::Target;
use crate::cli::error::Error;
use crate::cli::out::Out;

/// Between two looks at what has arrived.
const LOOK: Duration = Duration::from_millis(20);
/// Between two lines of progress.
const SAY: Duration = Duration::from_millis(500);

/// How much load, and how it is told of.
#[derive(Args, Clone, Debug)]
pub(super) struct Load {
    /// How many different messages are sent
    #[arg(long, default_value_t = 10_000, value_parser = value_parser!(u32).range(1..=10_000_000))]
    pub(super) messages: u32,
    /// Calls in flight at once, each on a connection of its own
    #[arg(long, default_value_t = 32, value_parser = value_parser!(u16).range(1..=4096))]
    pub(super) connections: u16,
    /// Bytes of filler in each message, beside some fields
    #[arg(long, value_name = "BYTES", default_value_t = 512)]
    pub(super) size: usize,
    /// Calls begun in a second; without it, as many as can be
    #[arg(long, value_parser = value_parser!(u32).range(1..))]
    pub(super) rate: Option<u32>,
    /// Messages sent before anything is measured; at least one
    #[arg(long, default_value_t = 100, value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub(super) warm_up: u32,
    /// Seconds without an arrival after which the rest is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub(super) patience: u32,
    /// Allow a server that is not on this machine; load may harm what it meets
    #[arg(long)]
    pub(super) anywhere: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// What is measured.
pub(super) struct Measurement<'a> {
    pub(super) mode: &'static str,
    pub(super) target: &'a Target,
    pub(super) calls: Arc<dyn Calls>,
    pub(super) load: &'a Load,
    /// How often each message is sent.
    pub(super) repeats: u32,
    /// Where messages arrive, if that is watched.
    pub(super) sink: Option<&'a Sink>,
    pub(super) endpoints: u32,
    /// Arrivals to be forgotten.
    pub(super) lose: u32,
}

impl Measurement<'_> {
    /// A first, unmeasured run. It also shows whether there is anything to measure.
    pub(super) async fn warm_up(&self, out: &mut Out) -> Result<Report, Error> {
        let order = (0..self.load.warm_up).collect();
        let report = self.run(out, order, None, 0).await;
        if report.errors.contains_key("no connection") {
            return Err(Error::NoServer(self.target.url.clone()));
        }
        Ok(report)
    }

    /// The run that counts.
    pub(super) async fn measure(&self, out: &mut Out) -> Report {
        let mut order: Vec<u32> = (0..self.load.messages).collect();
        if self.repeats > 1 {
            order = order.repeat(usize::try_from(self.repeats).unwrap_or(1));
            order.shuffle(&mut rand::rng());
        }
        self.run(out, order, self.load.rate, self.lose).await
    }

    async fn run(&self, out: &mut Out, order: Vec<u32>, rate: Option<u32>, lose: u32) -> Report {
        let messages = order.iter().max().map_or(0, |last| last + 1);
        let calls = order.len();
        let ledger = Arc::new(Ledger::new(messages, self.endpoints));
        if let Some(sink) = self.sink {
            sink.keep(&ledger, lose);
        }
        let course = Course {
            order,
            connections: self.load.connections,
            rate,
        };
        let driven = {
            let driving = drive(self.target, course, Arc::clone(&self.calls), &ledger);
            let settling = async {
                let driven = driving.await;
                if self.sink.is_some() {
                    self.settle(&ledger).await;
                }
                driven
            };
            let watching = self.watch(out, &ledger, calls);
            tokio::select! {
                driven = settling => driven,
                never = watching => match never {},
            }
        };
        out.progress("");
        self.report(messages, &driven, &ledger)
    }

    /// Waits until everything accepted has arrived, or nothing more seems to come.
    async fn settle(&self, ledger: &Ledger) {
        let patience = Duration::from_secs(self.load.patience.into());
        let (mut seen, mut at) = (0, Instant::now());
        let owed = ledger.tally().accepted * u64::from(self.endpoints);
        while at.elapsed() < patience {
            let (_, arrived) = ledger.so_far();
            // The sum alone may hold what arrived although its call failed.
            if arrived >= owed && ledger.tally().missing == 0 {
                return;
            }
            if arrived != seen {
                (seen, at) = (arrived, Instant::now());
            }
            pause(LOOK).await;
        }
    }

    /// Tells on a terminal how far it is.
    async fn watch(
        &self,
        out: &mut Out,
        ledger: &Ledger,
        calls: usize,
    ) -> std::convert::Infallible {
        if !std::io::stderr().is_terminal() {
            return std::future::pending().await;
        }
        loop {
            pause(SAY).await;
            let (answered, arrived) = ledger.so_far();
            let arrived = self.sink.map(|_| format!(", {arrived} arrived"));
            let arrived = arrived.unwrap_or_default();
            out.progress(&format!(
                "{}: {answered} of {calls} answered{arrived}",
                self.mode
            ));
        }
    }

    fn report(&self, messages: u32, driven: &Driven, ledger: &Ledger) -> Report {
        let watched = self.sink.is_some();
        let mut report = Report::new(messages, driven, ledger.tally(), watched);
        report.mode = self.mode;
        report.server.clone_from(&self.target.url);
        report.repeats = self.repeats;
        report.endpoints = self.endpoints;
        report.connections = self.load.connections;
        report.size = self.load.size;
        report.rate = self.load.rate;
        report
    }
}

/// Waits. The clock is one that nobody sets.
async fn pause(wait: Duration) {
    tokio::time::sleep_until(tokio::time::Instant::now() + wait).await;
}
