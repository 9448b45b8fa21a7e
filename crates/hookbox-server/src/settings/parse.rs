//! From texts to values, each fault in a sentence.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Caller, Origin, SETTINGS, SLOTS, Settings};
use crate::model::Secret;
use crate::store::Retention;
use crate::telemetry::LogFormat;

/// The shortest admin token.
const SHORTEST_TOKEN: usize = 32;
/// The shortest token for metrics, which shows numbers and changes nothing.
const SHORTEST_METRICS_TOKEN: usize = 16;
/// A whole try, the writing of its result, and some seconds in line.
const SHORTEST_LEASE: Duration = Duration::from_secs(25);
/// Beyond it, what a dead node held waits longer than anyone wants.
const LONGEST_LEASE: Duration = Duration::from_mins(10);

/// Reads the values that were found.
pub(super) struct Parser<'a> {
    pub(super) found: &'a BTreeMap<&'static str, (String, Origin)>,
    pub(super) faults: Vec<String>,
}

impl Parser<'_> {
    pub(super) fn settings(&mut self, sources: Vec<crate::store::SourceDraft>) -> Option<Settings> {
        let listen = self.read("listen", |text| {
            text.parse()
                .map_err(|_| "write an address and a port, for example 127.0.0.1:8080".to_owned())
        });
        let database = self.read("database", str::parse);
        let roles = self.read("role", str::parse);
        let egress_allow = self.read("egress_allow", |text| {
            text.parse().map_err(|error| format!("{error}"))
        });
        let allow_http = self.read("allow_http", |text| {
            text.parse().map_err(|_| "write true or false".to_owned())
        });
        let retry_schedule = self.optional("retry_schedule", |text| {
            text.parse().map_err(|error| format!("{error}"))
        });
        let lease = self.read("lease", |text| {
            humantime::parse_duration(text)
                .ok()
                .filter(|lease| (SHORTEST_LEASE..=LONGEST_LEASE).contains(lease))
                .ok_or_else(|| "write a duration from 25s to 10m".to_owned())
        });
        let messages = self.read("retain_messages", retained);
        let receipts = self.read("retain_receipts", retained);
        if let (Some(messages), Some(receipts)) = (messages, receipts)
            && receipts < messages
        {
            self.faults.push(
                "retain_receipts: must be at least retain_messages, or a repeat of a kept event is taken for new"
                    .to_owned(),
            );
        }
        let endpoint_concurrency = self.read("endpoint_concurrency", |text| count(text, 1000));
        let application_concurrency =
            self.read("application_concurrency", |text| count(text, SLOTS));
        let log_format = self.read("log_format", |text| match text {
            "auto" => Ok(LogFormat::Auto),
            "text" => Ok(LogFormat::Text),
            "json" => Ok(LogFormat::Json),
            _ => Err("write auto, text or json".to_owned()),
        });
        let log = self.read("log", |text| {
            match text.parse::<tracing_subscriber::EnvFilter>() {
                Ok(_) => Ok(text.to_owned()),
                Err(error) => Err(error.to_string()),
            }
        });
        let admin_token = self.optional("admin_token", |text| {
            if text.len() < SHORTEST_TOKEN {
                return Err(format!("a token has {SHORTEST_TOKEN} characters or more"));
            }
            Ok(Secret::new(text))
        });
        let metrics_token = self.optional("metrics_token", |text| {
            if text.len() < SHORTEST_METRICS_TOKEN {
                return Err(format!(
                    "a token for metrics has {SHORTEST_METRICS_TOKEN} characters or more"
                ));
            }
            Ok(Secret::new(text))
        });
        let secret_key = self.optional("secret_key", key);
        // The server does not use it, but a fault in it is one.
        let _ = self.caller();
        Some(Settings {
            listen: listen?,
            database: database?,
            roles: roles?,
            admin_token,
            secret_key,
            metrics_token,
            egress_allow: egress_allow?,
            allow_http: allow_http?,
            retry_schedule,
            endpoint_concurrency: endpoint_concurrency?,
            lease: lease?,
            retention: Retention {
                messages: messages?,
                receipts: receipts?,
            },
            application_concurrency: application_concurrency?,
            log: log?,
            log_format: log_format?,
            sources,
            found: BTreeMap::new(),
        })
    }

    pub(super) fn caller(&mut self) -> Option<Caller> {
        let url = self.read("url", |text| match text.parse::<http::Uri>() {
            Ok(uri) if matches!(uri.scheme_str(), Some("http" | "https")) => {
                Ok(text.trim_end_matches('/').to_owned())
            }
            _ => Err("write for example http://127.0.0.1:8080".to_owned()),
        });
        let plain = |text: &str| Ok(Secret::new(text));
        let own = self.optional("token", plain);
        let token = own.or_else(|| self.optional("admin_token", plain));
        Some(Caller { url: url?, token })
    }

    fn read<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let (text, origin) = &self.found[name];
        parse(text.trim())
            .map_err(|problem| {
                let name = match origin {
                    Origin::Environment => format!("HOOKBOX_{}", name.to_ascii_uppercase()),
                    Origin::Flag => flag(name),
                    Origin::File | Origin::Default => name.to_owned(),
                };
                self.faults.push(format!("{name}: {problem}"));
            })
            .ok()
    }

    fn optional<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        if self.found[name].0.trim().is_empty() {
            None
        } else {
            self.read(name, parse)
        }
    }
}

fn flag(name: &str) -> String {
    let setting = SETTINGS.iter().find(|setting| setting.name == name);
    let flag = setting.and_then(|setting| setting.flag);
    flag.map_or(name.to_owned(), |(flag, _)| format!("--{flag}"))
}

/// How long something is kept: an hour at least, so that nothing goes while it is looked at.
fn retained(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .ok()
        .filter(|time| *time >= Duration::from_hours(1))
        .ok_or_else(|| "write a duration of an hour or more, for example 90days".to_owned())
}

/// A number from 1 to `most`.
fn count(text: &str, most: usize) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|count| (1..=most).contains(count))
        .ok_or_else(|| format!("write a number from 1 to {most}"))
}

/// A key of 32 bytes in base64.
fn key(text: &str) -> Result<[u8; 32], String> {
    let bytes = STANDARD
        .decode(text)
        .map_err(|_| "write base64 of 32 bytes, for example from `openssl rand -base64 32`")?;
    bytes.try_into().map_err(|_| {
        "the key must be 32 bytes, for example from `openssl rand -base64 32`".to_owned()
    })
}
