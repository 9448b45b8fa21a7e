//! `hookbox serve`: everything in one process, until it is told to stop.

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::error::Error;
use super::out::Out;
use super::server::Server;
use crate::settings::Settings;
use crate::store::Migrate;
use crate::telemetry;

/// Serves until SIGTERM or SIGINT.
pub(super) async fn run(out: &mut Out, settings: &Settings, migrate: bool) -> Result<(), Error> {
    let _log = telemetry::start(&settings.log, settings.log_format);
    let migrate = if migrate {
        Migrate::Always
    } else {
        Migrate::IfEmpty
    };
    let server = Server::start(settings, migrate).await?;
    // Before it says that it listens: who reads that may send a signal at once.
    let mut signals = Signals::watch()?;
    greet(out, settings, &server);
    signals.told().await;
    tracing::info!("stopping; a second signal stops at once");
    tokio::select! {
        ended = server.stop() => {
            if !ended {
                tracing::warn!("not everything ended in time; what was under way is tried again");
            }
            Ok(())
        }
        signal = signals.told() => Err(Error::Cut(signal)),
    }
}

fn greet(out: &mut Out, settings: &Settings, server: &Server) {
    if let Some(token) = &server.new_token {
        out.line(&format!(
            "This is the first start. Your API token, shown this once:\n\n    {}\n\n\
             Use it as HOOKBOX_TOKEN, or as the token of a Svix client.",
            token.expose()
        ));
    }
    out.line(&format!(
        "hookbox is listening on http://{}",
        server.address
    ));
    if !settings.egress_allow.is_empty() || settings.allow_http {
        tracing::warn!(
            egress_allow = %settings.egress_allow, allow_http = settings.allow_http,
            "strangers' endpoints may reach more than public addresses over https"
        );
    }
}

/// What tells a process to stop.
#[derive(Debug)]
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From now on they no longer end the process by themselves.
    pub(super) fn watch() -> Result<Self, Error> {
        let watch = |kind| signal(kind).map_err(|error| Error::Failed(error.to_string()));
        Ok(Self {
            terminate: watch(SignalKind::terminate())?,
            interrupt: watch(SignalKind::interrupt())?,
        })
    }

    /// Waits for one, and returns its number.
    pub(super) async fn told(&mut self) -> u8 {
        let kind = tokio::select! {
            _ = self.terminate.recv() => SignalKind::terminate(),
            _ = self.interrupt.recv() => SignalKind::interrupt(),
        };
        u8::try_from(kind.as_raw_value()).unwrap_or_default()
    }
}
