//! The terminal: a file for each command.

mod app;
mod attempt;
mod client;
mod dead;
mod demo;
mod endpoint;
mod error;
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
use self::out::Out;
use crate::settings::{Given, Settings};

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
        place: Place,
        /// Bring an older database up to date first
        #[arg(long)]
        migrate: bool,
    },
    /// Tell the whole story in a few seconds, on a throw-away database
    Demo {
        /// Where to listen; a free port of this machine when not given
        #[arg(long, value_name = "ADDRESS")]
        listen: Option<std::net::SocketAddr>,
        /// End after the story instead of staying up
        #[arg(long)]
        exit: bool,
    },
    /// Bring the database up to date, while nothing serves it
    Migrate {
        #[command(flatten)]
        place: Place,
    },
    /// Show what is set, and where from
    Settings {
        /// As JSON
        #[arg(long)]
        json: bool,
        /// As the page docs/settings.md
        #[arg(long, hide = true)]
        markdown: bool,
    },
    /// Ask a running server whether it is ready: exit code 0 or 1
    Healthcheck {
        #[command(flatten)]
        to: To,
    },
    /// Make, list and revoke API tokens
    #[command(subcommand_required = true)]
    Token(Remote<token::Token>),
    /// The doors for incoming webhooks
    #[command(subcommand_required = true)]
    Source(Remote<source::Source>),
    /// Applications: whoever messages and endpoints belong to
    #[command(subcommand_required = true)]
    App(Remote<app::App>),
    /// Endpoints: where an application's messages go
    #[command(subcommand_required = true)]
    Endpoint(Remote<endpoint::Endpoint>),
    /// Messages: what happened
    #[command(subcommand_required = true)]
    Message(Remote<message::Message>),
    /// Attempts: every try, and how it ended
    #[command(subcommand_required = true)]
    Attempt(Remote<attempt::Attempt>),
    /// Dead letters: deliveries that were given up
    #[command(subcommand_required = true)]
    Dead(Remote<dead::Dead>),
}

/// Where a server listens and what it keeps.
#[derive(Debug, Args)]
struct Place {
    /// The address and port to listen on
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// The database, sqlite:PATH
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

/// Which server to talk to.
#[derive(Clone, Debug, Args)]
struct To {
    /// The server
    #[arg(long, global = true, value_name = "URL")]
    server: Option<String>,
    /// The API token; better in `HOOKBOX_TOKEN`, where no process list shows it
    #[arg(long, global = true, value_name = "TOKEN")]
    token: Option<String>,
}

/// A command of a running server.
#[derive(Debug, Args)]
struct Remote<V: Subcommand> {
    #[command(flatten)]
    to: To,
    /// Print JSON, as the API gave it
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    verb: V,
}

impl Cli {
    /// Runs the command and says how it ended: 0 done, 1 failed, 3 not found, 4 not authorized, 5 no server.
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
        let settings = |flags| -> Result<Settings, Error> { Ok(given(flags)?.settings()?) };
        match self.command {
            Command::Serve { place, migrate } => {
                Ok(serve::run(out, &settings(place.flags())?, migrate).await?)
            }
            Command::Demo { listen, exit } => demo::run(out, listen, exit).await,
            Command::Migrate { place } => migrate::run(out, &settings(place.flags())?),
            Command::Settings { json, markdown } => {
                show::run(out, &given(BTreeMap::new())?, json, markdown)
            }
            Command::Healthcheck { to } => healthcheck::run(out, &settings(to.flags())?).await,
            Command::Token(remote) => token::run(remote.begin(out, settings)?).await,
            Command::Source(remote) => source::run(remote.begin(out, settings)?).await,
            Command::App(remote) => app::run(remote.begin(out, settings)?).await,
            Command::Endpoint(remote) => endpoint::run(remote.begin(out, settings)?).await,
            Command::Message(remote) => message::run(remote.begin(out, settings)?).await,
            Command::Attempt(remote) => attempt::run(remote.begin(out, settings)?).await,
            Command::Dead(remote) => dead::run(remote.begin(out, settings)?).await,
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
        settings: impl FnOnce(BTreeMap<&'static str, String>) -> Result<Settings, Error>,
    ) -> Result<Task<'a, V>, Error> {
        out.json = self.json;
        let client = Client::new(&settings(self.to.flags())?);
        Ok(Task {
            verb: self.verb,
            client,
            out,
        })
    }
}

impl Place {
    fn flags(self) -> BTreeMap<&'static str, String> {
        given([("listen", self.listen), ("database", self.database)])
    }
}

impl To {
    fn flags(self) -> BTreeMap<&'static str, String> {
        given([("url", self.server), ("token", self.token)])
    }
}

fn given<const N: usize>(
    flags: [(&'static str, Option<String>); N],
) -> BTreeMap<&'static str, String> {
    flags
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}
