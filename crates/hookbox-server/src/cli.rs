//! The terminal: a file for each command.

mod answer;
mod app;
mod attempt;
mod bench;
mod client;
mod dead;
mod demo;
mod doctor;
mod endpoint;
mod error;
mod flags;
mod healthcheck;
mod message;
mod migrate;
mod out;
mod serve;
pub mod server;
mod show;
mod source;
mod token;
mod verb;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use self::client::Client;
use self::error::Error;
use self::flags::{Calling, Examining, Flags, Migrating, Serving};
use self::out::Out;
use crate::settings::{Faults, Given};
use crate::telemetry::metrics::metrics;

/// How long threads may take to end when a command has.
const CLOSING: Duration = Duration::from_secs(5);

/// The inbox and the outbox for webhooks.
///
/// Receives webhooks so that each takes effect once, and sends them so that none is lost.
/// Begin with `hookbox demo`.
#[derive(Debug, Parser)]
#[command(
    name = "hookbox",
    version,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub struct Cli {
    /// The settings file; hookbox.toml when there is one
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run everything in this process, until SIGTERM
    #[command(
        after_help = "Example:\n  hookbox serve --listen 0.0.0.0:8080 --database sqlite:/var/lib/hookbox/hookbox.db"
    )]
    Serve {
        #[command(flatten)]
        flags: Flags<Serving>,
        /// Bring an older database up to date first
        #[arg(long)]
        migrate: bool,
    },
    /// Tell the whole story in a few seconds, on a throw-away database
    #[command(after_help = "Example:\n  hookbox demo --listen 127.0.0.1:8080")]
    Demo {
        /// Where to listen; a free port of this machine when not given
        #[arg(long, value_name = "ADDRESS")]
        listen: Option<std::net::SocketAddr>,
        /// End after the story instead of staying up
        #[arg(long)]
        exit: bool,
    },
    /// Measure how fast a server is, beside one that keeps nothing
    #[command(after_help = "Example:\n  hookbox bench compare")]
    Bench {
        #[command(subcommand)]
        bench: bench::Bench,
    },
    /// Bring the database up to date, while nothing serves it
    #[command(
        after_help = "Example:\n  hookbox migrate --database sqlite:/var/lib/hookbox/hookbox.db"
    )]
    Migrate {
        #[command(flatten)]
        flags: Flags<Migrating>,
    },
    /// Look at an installation, running or not, and say what to do
    #[command(
        after_help = "Example:\n  hookbox doctor --database sqlite:/var/lib/hookbox/hookbox.db"
    )]
    Doctor {
        #[command(flatten)]
        flags: Flags<Examining>,
        #[command(flatten)]
        asked: doctor::Asked,
    },
    /// Show what is set, and where from
    #[command(after_help = "Example:\n  hookbox settings --config /etc/hookbox.toml")]
    Settings {
        /// As JSON
        #[arg(long)]
        json: bool,
        /// As the page docs/settings.md
        #[arg(long, hide = true)]
        markdown: bool,
    },
    /// The page docs/metrics.md
    #[command(hide = true)]
    Metrics,
    /// Ask a running server whether it is ready: exit code 0 or 1
    #[command(after_help = "Example:\n  hookbox healthcheck --server http://127.0.0.1:8080")]
    Healthcheck {
        #[command(flatten)]
        flags: Flags<Calling>,
    },
    /// Make, list and revoke API tokens
    #[command(
        subcommand_required = true,
        after_help = "Example:\n  hookbox token create ci"
    )]
    Token(Remote<token::Token>),
    /// The doors for incoming webhooks
    #[command(
        subcommand_required = true,
        after_help = "Example:\n  hookbox source receipts stripe"
    )]
    Source(Remote<source::Source>),
    /// Applications: whoever messages and endpoints belong to
    #[command(
        subcommand_required = true,
        after_help = "Example:\n  hookbox app list"
    )]
    App(Remote<app::App>),
    /// Endpoints: where an application's messages go
    #[command(
        subcommand_required = true,
        after_help = "Example:\n  hookbox endpoint list acme"
    )]
    Endpoint(Remote<endpoint::Endpoint>),
    /// Messages: what happened
    #[command(
        subcommand_required = true,
        after_help = "Example:\n  hookbox message get acme msg_…"
    )]
    Message(Remote<message::Message>),
    /// Attempts: every try, and how it ended
    #[command(
        subcommand_required = true,
        after_help = "Example:\n  hookbox attempt list acme --message msg_…"
    )]
    Attempt(Remote<attempt::Attempt>),
    /// Dead letters: deliveries that were given up
    #[command(
        subcommand_required = true,
        after_help = "Example:\n  hookbox dead replay --all"
    )]
    Dead(Remote<dead::Dead>),
}

/// A command of a running server.
#[derive(Debug, Args)]
struct Remote<V: Subcommand> {
    #[command(flatten)]
    flags: Flags<Calling>,
    /// Print JSON, as the API gave it
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    verb: V,
}

impl Cli {
    /// Runs the command and says how it ended: 0 done, 1 failed, 2 asked wrongly, 3 not found, 4 not authorized,
    /// 5 no server, 128 and the signal when one cut it short.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let runtime = match tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
        {
            Ok(runtime) => runtime,
            Err(error) => return Out::default().fail(&Error::Failed(error.to_string())),
        };
        let mut out = Out::default();
        let code = match runtime.block_on(self.perform(&mut out)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => out.fail(&error),
        };
        // A name that the system is still looking up must not keep the process.
        runtime.shutdown_timeout(CLOSING);
        code
    }

    async fn perform(self, out: &mut Out) -> Result<(), Error> {
        let config = self.config.as_deref();
        let given = |flags| Given::gather(config, flags);
        match self.command {
            Command::Serve { flags, migrate } => {
                serve::run(out, &given(flags.given)?.settings()?, migrate).await
            }
            Command::Demo { listen, exit } => demo::run(out, listen, exit).await,
            Command::Migrate { flags } => migrate::run(out, &given(flags.given)?.settings()?).await,
            Command::Bench { bench } => Box::pin(bench::run(out, bench, given)).await,
            Command::Doctor { flags, asked } => doctor::run(out, given(flags.given), asked).await,
            Command::Settings { json, markdown } => {
                show::run(out, &given(BTreeMap::new())?, json, markdown)
            }
            Command::Metrics => {
                out.line(metrics().page().trim_end());
                Ok(())
            }
            Command::Healthcheck { flags } => {
                healthcheck::run(out, given(flags.given)?.caller()?).await
            }
            Command::Token(remote) => token::run(remote.begin(out, given)?).await,
            Command::Source(remote) => source::run(remote.begin(out, given)?).await,
            Command::App(remote) => app::run(remote.begin(out, given)?).await,
            Command::Endpoint(remote) => endpoint::run(remote.begin(out, given)?).await,
            Command::Message(remote) => message::run(remote.begin(out, given)?).await,
            Command::Attempt(remote) => attempt::run(remote.begin(out, given)?).await,
            Command::Dead(remote) => dead::run(remote.begin(out, given)?).await,
        }
    }
}

/// A verb, the server it speaks to, and where its answer goes.
struct Task<'a, V> {
    verb: V,
    client: Client,
    out: &'a mut Out,
}

impl<V: Subcommand> Remote<V> {
    fn begin<'a>(
        self,
        out: &'a mut Out,
        given: impl FnOnce(BTreeMap<&'static str, String>) -> Result<Given, Faults>,
    ) -> Result<Task<'a, V>, Error> {
        out.json = self.json;
        Ok(Task {
            verb: self.verb,
            client: Client::new(given(self.flags.given)?.caller()?),
            out,
        })
    }
}
