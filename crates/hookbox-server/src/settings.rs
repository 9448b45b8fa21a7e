//! Every setting, declared once, and gathered once: file < environment < flags.

mod database;
mod nearest;
mod page;
mod parse;
mod read;
mod role;
mod source;
mod stray;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

pub use database::{Database, without_password};
pub use page::page;
pub use read::{Faults, Given};
pub use role::Roles;

use crate::egress::AllowList;
use crate::model::{Schedule, Secret};
use crate::store::{Retention, SourceDraft};
use crate::telemetry::LogFormat;

/// A setting: its name in the file; `HOOKBOX_` and the name in capitals in the environment.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// What it is when nobody sets it; empty for nothing.
    pub default: &'static str,
    /// It is never shown, and may be given as a file: `HOOKBOX_…_FILE`.
    pub secret: bool,
    /// Its flag, if it has one, and the commands that know it.
    pub flag: Option<(&'static str, &'static [Command])>,
    /// What it means.
    pub about: &'static str,
}

/// What knows flags of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// `hookbox serve`.
    Serve,
    /// `hookbox migrate`.
    Migrate,
    /// `hookbox doctor`.
    Doctor,
    /// What calls a running server.
    Call,
}

const fn setting(name: &'static str, default: &'static str, about: &'static str) -> Setting {
    Setting {
        name,
        default,
        secret: false,
        flag: None,
        about,
    }
}

impl Setting {
    const fn secret(self) -> Self {
        Self {
            secret: true,
            ..self
        }
    }

    const fn flag(self, flag: &'static str, of: &'static [Command]) -> Self {
        Self {
            flag: Some((flag, of)),
            ..self
        }
    }

    /// Its name in the environment.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("HOOKBOX_{}", self.name.to_ascii_uppercase())
    }
}

/// Deliveries that a node holds at once.
pub const SLOTS: usize = 2048;

const SERVE: &[Command] = &[Command::Serve];
const CALL: &[Command] = &[Command::Call];

/// All settings.
pub const SETTINGS: [Setting; 18] = [
    setting(
        "listen",
        "127.0.0.1:8080",
        "The address and port to listen on.",
    ).flag("listen", SERVE),
    setting(
        "database",
        "sqlite:hookbox.db",
        "Where everything is kept: `sqlite:PATH` for one process, `postgres://USER:PASSWORD@HOST/NAME` or \
         `mysql://USER:PASSWORD@HOST/NAME` for many nodes.",
    ).flag("database", &[Command::Serve, Command::Migrate, Command::Doctor]),
    setting(
        "role",
        "all",
        "What this node does: `all`, or a list of `doors` (takes webhooks in), `api`, `engine` (delivers) and `upkeep`. \
         Between them the nodes of a database must have all four.",
    ).flag("role", SERVE),
    setting(
        "admin_token",
        "",
        "A token with every right, for automation; 32 characters or more. Without it the first start creates one \
         and prints it once.",
    ).secret(),
    setting(
        "secret_key",
        "",
        "Seals the secrets in the database: base64 of 32 bytes. Without it the first start writes a key file beside \
         an SQLite database; nodes that share a database must be given the same one.",
    ).secret(),
    setting(
        "metrics_token",
        "",
        "When set, `/metrics` and `/queue` want it as a bearer token; 16 characters or more.",
    ).secret(),
    setting(
        "egress_allow",
        "",
        "Networks that strangers' endpoints may reach although they are not public, with an optional port: \
         `10.1.0.0/16,127.0.0.1:9700,[fd00::/8]:443`.",
    ).flag("egress-allow", SERVE),
    setting(
        "allow_http",
        "false",
        "Whether strangers' endpoints may be plain http.",
    ).flag("allow-http", SERVE),
    setting(
        "retry_schedule",
        "",
        "The waits after the first, second, … failed try, for every endpoint without a schedule of its own: \
         `5s,30s,5m`. Without it, three days for strangers' endpoints and three retries for your own app.",
    ).flag("retry-schedule", SERVE),
    setting(
        "endpoint_concurrency",
        "32",
        "Tries in flight to one endpoint at once; 1 to 1000.",
    ).flag("endpoint-concurrency", SERVE),
    setting(
        "lease",
        "60s",
        "How long a node keeps the deliveries that it took, and so how long they wait for another when it vanishes; \
         25s to 10m.",
    ).flag("lease", SERVE),
    setting(
        "retain_messages",
        "90days",
        "How long messages are kept, with their payloads, attempts and dead letters. One that is still being delivered \
         stays.",
    ).flag("retain-messages", SERVE),
    setting(
        "retain_receipts",
        "180days",
        "How long a source remembers that it has seen an event; at least as long as `retain_messages`.",
    ).flag("retain-receipts", SERVE),
    setting(
        "application_concurrency",
        "512",
        "Deliveries of one application that are in flight or next in line at once, of the 2048 that a node holds; \
         1 to 2048.",
    ).flag("application-concurrency", SERVE),
    setting(
        "log",
        "info",
        "What is logged: a level, or a filter such as `info,hookbox_server::engine=debug`.",
    ).flag("log", SERVE),
    setting(
        "log_format",
        "auto",
        "`text`, `json`, or `auto`: text on a terminal, JSON elsewhere.",
    ).flag("log-format", SERVE),
    setting(
        "url",
        "http://127.0.0.1:8080",
        "The server that commands such as `hookbox app list` talk to.",
    ).flag("server", &[Command::Call, Command::Doctor]),
    setting(
        "token",
        "",
        "The token that those commands use; `admin_token` when it is not set.",
    ).secret().flag("token", CALL),
];

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// The settings file.
    File,
    /// The environment.
    Environment,
    /// A flag.
    Flag,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Environment => "environment",
            Self::Flag => "flag",
        })
    }
}

/// All settings, checked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// Where everything is kept.
    pub database: Database,
    /// What this node does.
    pub roles: Roles,
    /// The token with every right.
    pub admin_token: Option<Secret>,
    /// The key that seals secrets.
    pub secret_key: Option<[u8; 32]>,
    /// What `/metrics` and `/queue` want to be shown.
    pub metrics_token: Option<Secret>,
    /// What strangers may reach beyond what is public.
    pub egress_allow: AllowList,
    /// Whether strangers may use plain HTTP.
    pub allow_http: bool,
    /// The schedule of endpoints without their own.
    pub retry_schedule: Option<Schedule>,
    /// Tries in flight to one endpoint.
    pub endpoint_concurrency: usize,
    /// How long a node keeps what it took.
    pub lease: Duration,
    /// What is kept for how long.
    pub retention: Retention,
    /// Deliveries of one application that a node holds.
    pub application_concurrency: usize,
    /// What is logged.
    pub log: String,
    /// How it looks.
    pub log_format: LogFormat,
    /// The sources of the settings file.
    pub sources: Vec<SourceDraft>,
    /// Each value as text, and where it came from; for showing.
    pub found: BTreeMap<&'static str, (String, Origin)>,
}

/// What a command needs to call a running server.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The server.
    pub url: String,
    /// The token that it knows.
    pub token: Option<Secret>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_sound() {
        let settings = Given::default().settings().unwrap();
        assert_eq!(settings.listen.to_string(), "127.0.0.1:8080");
        assert_eq!(settings.database, Database::Sqlite("hookbox.db".into()));
        assert!(
            settings.egress_allow.is_empty()
                && !settings.allow_http
                && settings.retry_schedule.is_none()
        );
    }
}
