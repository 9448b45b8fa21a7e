//! Reading settings: every fault is found before any is reported.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::nearest::suggestion;
use super::parse::Parser;
use super::source;
use super::{Caller, Origin, SETTINGS, Setting, Settings};

/// The settings file when none is named.
const DEFAULT_FILE: &str = "hookbox.toml";

/// What is wrong with the settings, a sentence each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults(pub Vec<String>);

impl std::fmt::Display for Faults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for Faults {}

/// What was given, unchecked.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The settings file; empty for `hookbox.toml`.
    pub path: PathBuf,
    /// Its text.
    pub file: String,
    /// The environment.
    pub environment: BTreeMap<String, String>,
    /// Flags, by the name of their setting.
    pub flags: BTreeMap<&'static str, String>,
}

impl Given {
    /// Reads the environment and the settings file: the one given, or that of `HOOKBOX_CONFIG`, or `hookbox.toml`
    /// if there is one.
    ///
    /// # Errors
    /// A file that was named and cannot be read.
    pub fn gather(
        config: Option<&Path>,
        flags: BTreeMap<&'static str, String>,
    ) -> Result<Self, Faults> {
        let environment = environment()?;
        let named = config
            .map(Path::to_owned)
            .or_else(|| environment.get("HOOKBOX_CONFIG").map(Into::into));
        let path = named.clone().unwrap_or_else(|| DEFAULT_FILE.into());
        let file = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
                String::new()
            }
            Err(error) => {
                return Err(Faults(vec![format!(
                    "cannot read {}: {error}",
                    path.display()
                )]));
            }
        };
        Ok(Self {
            path,
            file,
            environment,
            flags,
        })
    }

    /// Checks everything.
    ///
    /// # Errors
    /// All that is wrong.
    pub fn settings(&self) -> Result<Settings, Faults> {
        let mut faults = Vec::new();
        let mut table = self.table(&mut faults);
        let sources = self.sources(&mut table, &mut faults);
        let names = SETTINGS.map(|setting| setting.name);
        for name in table.keys().filter(|name| !names.contains(&name.as_str())) {
            let meant = suggestion(name, &names);
            faults.push(format!(
                "{}: there is no setting '{name}'{meant}",
                self.name()
            ));
        }
        let found = self.found(&table, &mut faults);
        let mut parser = Parser {
            found: &found,
            faults,
        };
        let settings = parser.settings(sources);
        let faults = parser.faults;
        match settings {
            Some(settings) if faults.is_empty() => Ok(Settings { found, ..settings }),
            _ => Err(Faults(faults)),
        }
    }

    /// Checks only what a command needs to call a server: what else a server reads may be missing here.
    ///
    /// # Errors
    /// All that is wrong with that.
    pub fn caller(&self) -> Result<Caller, Faults> {
        let mut faults = Vec::new();
        let table = self.table(&mut faults);
        let found = self.found(&table, &mut Vec::new());
        let mut parser = Parser {
            found: &found,
            faults,
        };
        match parser.caller() {
            Some(caller) if parser.faults.is_empty() => Ok(caller),
            _ => Err(Faults(parser.faults)),
        }
    }

    fn name(&self) -> std::borrow::Cow<'_, str> {
        if self.path.as_os_str().is_empty() {
            DEFAULT_FILE.into()
        } else {
            self.path.to_string_lossy()
        }
    }

    pub(super) fn table(&self, faults: &mut Vec<String>) -> toml::Table {
        self.file.parse().unwrap_or_else(|error: toml::de::Error| {
            // The error's own text would show the line, and with it a secret.
            let before = error
                .span()
                .and_then(|span| self.file.get(..span.start))
                .unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            faults.push(format!("{}, line {line}: {}", self.name(), error.message()));
            toml::Table::new()
        })
    }

    fn sources(
        &self,
        table: &mut toml::Table,
        faults: &mut Vec<String>,
    ) -> Vec<crate::store::SourceDraft> {
        let tables = match table.remove("source") {
            None => return Vec::new(),
            Some(toml::Value::Array(tables)) => tables,
            Some(_) => {
                faults.push(format!(
                    "{}: write [[source]], twice bracketed",
                    self.name()
                ));
                return Vec::new();
            }
        };
        let drafts: Vec<_> = tables
            .into_iter()
            .filter_map(|table| source::draft(table, &self.environment, faults))
            .collect();
        for (n, draft) in drafts.iter().enumerate() {
            if drafts[..n].iter().any(|other| other.name == draft.name) {
                let (name, file) = (&draft.name, self.name());
                faults.push(format!("source '{name}' stands in {file} twice"));
            }
        }
        drafts
    }

    pub(super) fn found(
        &self,
        table: &toml::Table,
        faults: &mut Vec<String>,
    ) -> BTreeMap<&'static str, (String, Origin)> {
        SETTINGS
            .iter()
            .map(|setting| (setting.name, self.find(setting, table, faults)))
            .collect()
    }

    fn find(
        &self,
        setting: &Setting,
        table: &toml::Table,
        faults: &mut Vec<String>,
    ) -> (String, Origin) {
        if let Some(value) = self.flags.get(setting.name) {
            return (value.clone(), Origin::Flag);
        }
        let variable = setting.variable();
        let path = self.environment.get(&format!("{variable}_FILE"));
        match (self.environment.get(&variable), path) {
            (Some(_), Some(_)) if setting.secret => {
                faults.push(format!("set {variable} or {variable}_FILE, not both"));
            }
            (Some(value), _) => return (value.clone(), Origin::Environment),
            (None, Some(path)) if setting.secret => match std::fs::read_to_string(path) {
                Ok(text) => return (text.trim_end().to_owned(), Origin::Environment),
                Err(error) => faults.push(format!("{variable}_FILE: cannot read {path}: {error}")),
            },
            (None, _) => {}
        }
        let text = |value: &toml::Value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        match table.get(setting.name) {
            Some(toml::Value::Array(parts)) => {
                let parts: Vec<_> = parts.iter().map(text).collect();
                (parts.join(","), Origin::File)
            }
            Some(value) => (text(value), Origin::File),
            None => (setting.default.to_owned(), Origin::Default),
        }
    }
}

/// The environment, read this once.
fn environment() -> Result<BTreeMap<String, String>, Faults> {
    let mut environment = BTreeMap::new();
    let mut faults = Vec::new();
    for (name, value) in std::env::vars_os() {
        match (name.into_string(), value.into_string()) {
            (Ok(name), Ok(value)) => drop(environment.insert(name, value)),
            (Ok(name), Err(_)) if name.starts_with("HOOKBOX_") => {
                faults.push(format!("{name}: this is no UTF-8 text"));
            }
            // Others' variables may be anything.
            _ => {}
        }
    }
    if faults.is_empty() {
        Ok(environment)
    } else {
        Err(Faults(faults))
    }
}

#[cfg(test)]
mod tests;
