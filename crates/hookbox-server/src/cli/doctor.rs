//! `hookbox doctor`: looks at an installation, changes nothing, and says what to do.
//!
//! Facts are gathered here and in the store; what they mean is judged by pure functions, a file for each part.

mod codes;
mod database;
mod finding;
mod gather;
mod queue;
mod reach;
mod server;
mod settings;
mod sqlite;

use clap::Args;
use serde_json::json;

use self::codes::{REACHABLE, SETTINGS};
use self::finding::{Discreet, Finding, Level, counted};
use self::settings::{KeyFile, KeyState};
use super::error::Error;
use super::out::{Out, clean};
use crate::settings::{Database, Faults, Given, Settings};
use crate::store::diagnosis::Diagnosis;
use crate::store::seal::Sealer;
use crate::store::{cluster, sqlite as store_sqlite};

/// What is asked of it.
#[derive(Debug, Args)]
pub(super) struct Asked {
    /// As JSON
    #[arg(long)]
    json: bool,
    /// Read every page of a database in a file too
    #[arg(long)]
    deep: bool,
    /// Look this name up, instead of the hosts that events are forwarded to
    #[arg(long, value_name = "HOST")]
    name: Vec<String>,
    /// As the page docs/doctor.md
    #[arg(long, hide = true)]
    markdown: bool,
}

pub(super) async fn run(
    out: &mut Out,
    given: Result<Given, Faults>,
    asked: Asked,
) -> Result<(), Error> {
    if asked.markdown {
        out.line(finding::page().trim_end());
        return Ok(());
    }
    let findings = match given {
        Ok(given) => Box::pin(examine(&given, &asked)).await,
        Err(faults) => faulty(&faults, &Discreet::default()),
    };
    show(out, &findings, asked.json);
    let errors = findings
        .iter()
        .filter(|finding| finding.level == Level::Error);
    match errors.count() {
        0 => Ok(()),
        errors => Err(Error::Failed(format!(
            "{} found",
            counted(errors, "error was", "errors were")
        ))),
    }
}

/// Looks at everything, as far as the settings can be read.
async fn examine(given: &Given, asked: &Asked) -> Vec<Finding> {
    let discreet = Discreet::new(given.secrets());
    let mut findings = Vec::new();
    let mut forward: Vec<String> = Vec::new();
    match given.settings() {
        Err(faults) => findings.extend(faulty(&faults, &discreet)),
        Ok(set) => {
            let key_file = gather::key_file(&set);
            findings.extend(settings::judge(&set, key_file.as_ref()));
            let sealer = key(&set, key_file.as_ref()).map(Sealer::new);
            match look(&set.database, sealer, asked.deep).await {
                Ok(found) => {
                    findings.extend(database::judge(&found, &discreet));
                    forward.extend(found.endpoints.into_iter().flat_map(|all| all.forward));
                }
                Err(error) => findings.push(REACHABLE.error(discreet.text(&error))),
            }
            forward.extend(set.sources.into_iter().flat_map(|source| source.forward));
        }
    }
    findings.extend(settings::strays(&given.strays()));
    findings.extend(settings::secret_files(&gather::secret_files(given)));
    if let Ok(caller) = given.caller() {
        findings.extend(reach::server(caller).await);
    }
    let hosts = match asked.name.as_slice() {
        [] => reach::hosts(forward.iter().map(String::as_str)),
        names => names.iter().cloned().collect(),
    };
    findings.extend(reach::names(&hosts).await);
    findings
}

fn faulty(faults: &Faults, discreet: &Discreet) -> Vec<Finding> {
    let faults = faults.0.iter();
    faults
        .map(|fault| SETTINGS.error(discreet.text(fault)))
        .collect()
}

/// The key that a start would use, if there is one.
fn key(settings: &Settings, file: Option<&KeyFile>) -> Option<[u8; 32]> {
    settings
        .secret_key
        .or_else(|| match file.map(|file| file.state) {
            Some(KeyState::Key(key)) => Some(key),
            _ => None,
        })
}

async fn look(
    database: &Database,
    sealer: Option<Sealer>,
    deep: bool,
) -> Result<Diagnosis, Box<dyn std::error::Error + Send + Sync>> {
    match database {
        Database::Sqlite(path) => {
            let path = path.clone();
            let look = move || store_sqlite::diagnose(&path, sealer.as_ref(), deep);
            Ok(tokio::task::spawn_blocking(look).await??)
        }
        Database::Shared(url) => Ok(cluster::diagnose(url.expose(), sealer.as_ref()).await?),
    }
}

fn show(out: &mut Out, findings: &[Finding], as_json: bool) {
    let level = findings.iter().map(|finding| finding.level).max();
    let level = level.unwrap_or(Level::Ok);
    if as_json {
        let findings: Vec<_> = findings
            .iter()
            .map(|finding| {
                json!({
                    "code": finding.code.name,
                    "level": finding.level.name(),
                    "found": finding.found,
                    "advice": finding.advice(),
                })
            })
            .collect();
        out.json = true;
        return out.list(
            &json!({"level": level.name(), "findings": findings}).into(),
            &[],
        );
    }
    for finding in findings {
        let (level, code) = (finding.level, finding.code.name);
        out.line(&clean(&format!("{level:8} {code}: {}", finding.found)));
        if let Some(advice) = finding.advice() {
            out.line(&format!("         {advice}"));
        }
    }
    let count = |level| {
        let same = findings.iter().filter(|finding| finding.level == level);
        same.count()
    };
    out.line(&format!(
        "\n{}, {}, {}",
        counted(count(Level::Error), "error", "errors"),
        counted(count(Level::Warning), "warning", "warnings"),
        counted(count(Level::Note), "note", "notes"),
    ));
}
