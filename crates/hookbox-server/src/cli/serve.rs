//! `hookbox serve`: everything in one process, until it is told to stop.

use tokio::signal::unix::{SignalKind, signal};

use super::out::Out;
use super::server::Server;
use crate::settings::Settings;
use crate::store::sqlite::Migrate;
use crate::telemetry;

/// Serves until SIGTERM or SIGINT.
pub(super) async fn run(out: &mut Out, settings: &Settings, migrate: bool) -> anyhow::Result<()> {
    telemetry::start(&settings.log, settings.log_format);
    let migrate = if migrate {
        Migrate::Always
    } else {
        Migrate::IfEmpty
    };
    let server = Server::start(settings, migrate).await?;
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
    stop_signal().await?;
    tracing::info!("stopping; a second signal stops at once");
    tokio::select! {
        ended = server.stop() => {
            if !ended {
                tracing::warn!("not everything ended in time; what was under way is tried again");
            }
        }
        second = stop_signal() => second?,
    }
    Ok(())
}

/// Waits until the process is told to stop.
pub(super) async fn stop_signal() -> anyhow::Result<()> {
    let (mut terminate, mut interrupt) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
    );
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
