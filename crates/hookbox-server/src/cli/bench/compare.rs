//! `hookbox bench compare`: the floor and a server, in turn, in the same minute.

use clap::{Args, value_parser};
use serde::Serialize;

use super::load::Load;
use super::process::Process;
use super::recv::{self, Door, Receiving};
use super::report::{Report, print, rate};
use super::send::{self, Sending};
use super::sink::Manner;
use crate::cli::error::Error;
use crate::cli::out::Out;
use crate::cli::serve::Signals;
use crate::model::Secret;
use crate::settings::Caller;

/// The secret of the throw-away server's source.
const STRIPE_SECRET: &str = "whsec_bench";

#[derive(Args, Debug)]
pub(in crate::cli) struct Compare {
    /// Messages of each full-speed run
    #[arg(long, default_value_t = 20_000, value_parser = value_parser!(u32).range(1..=1_000_000))]
    messages: u32,
    /// Calls in flight at once
    #[arg(long, default_value_t = 32, value_parser = value_parser!(u16).range(1..=4096))]
    connections: u16,
    /// Bytes of filler in each message
    #[arg(long, value_name = "BYTES", default_value_t = 512)]
    size: usize,
    /// The pace at which latency is measured, for a second
    #[arg(long, default_value_t = 200, value_parser = value_parser!(u32).range(1..))]
    rate: u32,
    /// How many seconds of that pace
    #[arg(long, default_value_t = 5, value_parser = value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// How often all of it is measured
    #[arg(long, default_value_t = 1, value_parser = value_parser!(u16).range(1..=1000))]
    rounds: u16,
    /// The server's database, kept afterwards; a new file in TMPDIR when not given. Let that be on a
    /// real disk: in memory, a commit costs nothing
    #[arg(long, value_name = "VALUE")]
    database: Option<String>,
    /// Print JSON, a line for each round
    #[arg(long)]
    json: bool,
}

/// What one server can do.
#[derive(Debug, Serialize)]
struct Figures {
    send: Report,
    recv: Report,
    paced: Report,
}

/// The server's figures divided by the floor's.
#[derive(Debug, Serialize)]
struct Ratio {
    /// Arrivals in a second; higher is better.
    send: f64,
    /// Accepted events in a second; higher is better.
    recv: f64,
    /// Median from call to arrival at the given pace; lower is better.
    arrival: f64,
}

#[derive(Debug, Serialize)]
struct Round {
    round: u16,
    floor: Figures,
    server: Figures,
    ratio: Ratio,
}

pub(super) async fn run(out: &mut Out, compare: Compare) -> Result<(), Error> {
    // A signal must not leave the children behind.
    let mut signals = Signals::watch()?;
    tokio::select! {
        ended = Box::pin(measure(out, &compare)) => ended,
        signal = signals.told() => Err(Error::Stopped(signal)),
    }
}

async fn measure(out: &mut Out, compare: &Compare) -> Result<(), Error> {
    let folder = tempfile::tempdir()
        .map_err(|error| Error::Failed(format!("no temporary folder: {error}")))?;
    let settings = folder.path().join("hookbox.toml");
    let source = format!(
        "[[source]]\nname = \"stripe\"\nprovider = \"stripe\"\nsecrets = [\"{STRIPE_SECRET}\"]\n"
    );
    std::fs::write(&settings, source)
        .map_err(|error| Error::Failed(format!("cannot write {}: {error}", settings.display())))?;
    let database = compare.database.clone();
    let database =
        database.unwrap_or_else(|| format!("sqlite:{}", folder.path().join("bench.db").display()));
    let token = Secret::new(crate::api::new_token());
    let floor = Process::floor().await?;
    let server = Process::server(&settings, &database, &token).await?;
    for round in 1..=compare.rounds {
        let floor = compare.figures(out, &floor, &token).await?;
        let server = compare.figures(out, &server, &token).await?;
        let round = Round {
            round,
            ratio: Ratio::of(&server, &floor),
            floor,
            server,
        };
        if compare.json {
            print(out, &round)?;
        } else {
            round.show(out);
        }
        round.check()?;
    }
    Ok(())
}

impl Compare {
    async fn figures(
        &self,
        out: &mut Out,
        server: &Process,
        token: &Secret,
    ) -> Result<Figures, Error> {
        let full = self.load(self.messages, None);
        let paced = self.load(self.rate.saturating_mul(self.seconds), Some(self.rate));
        let door = Door {
            url: format!("{}/in/stripe", server.url),
            secret: STRIPE_SECRET.to_owned(),
        };
        let receiving = Receiving {
            load: full.clone(),
            repeats: 1,
            sink: None,
            manner: Manner::default(),
        };
        Ok(Figures {
            send: send::measure(out, caller(server, token), &sending(full)).await?,
            recv: recv::measure(out, &door, &receiving).await?,
            paced: send::measure(out, caller(server, token), &sending(paced)).await?,
        })
    }

    fn load(&self, messages: u32, rate: Option<u32>) -> Load {
        Load {
            messages,
            connections: self.connections,
            size: self.size,
            rate,
            warm_up: 500,
            patience: 30,
            anywhere: false,
            json: false,
        }
    }
}

fn caller(server: &Process, token: &Secret) -> Caller {
    Caller {
        url: server.url.clone(),
        token: Some(token.clone()),
    }
}

fn sending(load: Load) -> Sending {
    Sending {
        load,
        endpoints: 1,
        sink: ([127, 0, 0, 1], 0).into(),
        manner: Manner::default(),
    }
}

impl Ratio {
    fn of(server: &Figures, floor: &Figures) -> Self {
        let ratio = |of: fn(&Figures) -> f64| {
            let ratio = of(server) / of(floor);
            (ratio * 1000.0).round() / 1000.0
        };
        Self {
            send: ratio(sent_per_s),
            recv: ratio(received_per_s),
            arrival: ratio(arrival),
        }
    }
}

fn sent_per_s(figures: &Figures) -> f64 {
    let arrivals = figures.send.arrivals.as_ref();
    arrivals.map_or(0.0, |found| found.arrived_per_s)
}

fn received_per_s(figures: &Figures) -> f64 {
    figures.recv.accepted_per_s
}

fn arrival(figures: &Figures) -> f64 {
    let arrivals = figures.paced.arrivals.as_ref();
    arrivals.map_or(0.0, |found| found.arrival_ms.p50)
}

impl Round {
    fn show(&self, out: &mut Out) {
        let row = |name: &str, of: fn(&Figures) -> f64, text: fn(f64) -> String, ratio: f64| {
            let (floor, server) = (text(of(&self.floor)), text(of(&self.server)));
            vec![name.to_owned(), floor, server, format!("{ratio:.3}")]
        };
        let head = [
            format!("ROUND {}", self.round),
            "FLOOR".to_owned(),
            "SERVER".to_owned(),
            "RATIO".to_owned(),
        ];
        let ratio = &self.ratio;
        let millis = |value| format!("{value:.2} ms");
        let paced = format!(
            "call to arrival at {}/s, median",
            self.server.paced.rate.unwrap_or_default()
        );
        out.table(vec![
            head.to_vec(),
            row("send", sent_per_s, rate, ratio.send),
            row("receive", received_per_s, rate, ratio.recv),
            row(&paced, arrival, millis, ratio.arrival),
        ]);
    }

    fn check(&self) -> Result<(), Error> {
        for figures in [&self.floor, &self.server] {
            figures.send.check()?;
            figures.recv.check()?;
            figures.paced.check()?;
        }
        Ok(())
    }
}
