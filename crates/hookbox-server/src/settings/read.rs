//! Reading settings: every fault is found before any is reported.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::source::SourceTable;
use super::{Origin, SETTINGS, Setting, Settings};
use crate::model::Secret;
use crate::telemetry::LogFormat;

/// The shortest admin token.
const SHORTEST_TOKEN: usize = 32;

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
    /// The text of the settings file.
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
        let environment: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let named = config
            .map(Path::to_owned)
            .or_else(|| environment.get("HOOKBOX_CONFIG").map(Into::into));
        let path = named.clone().unwrap_or_else(|| "hookbox.toml".into());
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
        for name in table
            .keys()
            .filter(|name| !SETTINGS.iter().any(|setting| setting.name == **name))
        {
            faults.push(format!(
                "hookbox.toml: there is no setting '{name}'{}",
                suggestion(name)
            ));
        }
        let found: BTreeMap<_, _> = SETTINGS
            .iter()
            .map(|setting| (setting.name, self.find(setting, &table, &mut faults)))
            .collect();
        let mut reader = Reader {
            found: &found,
            faults,
        };
        let settings = reader.settings(sources);
        let faults = reader.faults;
        match settings {
            Some(settings) if faults.is_empty() => Ok(Settings { found, ..settings }),
            _ => Err(Faults(faults)),
        }
    }

    fn table(&self, faults: &mut Vec<String>) -> toml::Table {
        self.file.parse().unwrap_or_else(|error: toml::de::Error| {
            faults.push(format!("hookbox.toml: {}", error.to_string().trim_end()));
            toml::Table::new()
        })
    }

    fn sources(
        &self,
        table: &mut toml::Table,
        faults: &mut Vec<String>,
    ) -> Vec<crate::store::SourceDraft> {
        let Some(sources) = table.remove("source") else {
            return Vec::new();
        };
        let sources: Vec<SourceTable> = match sources.try_into() {
            Ok(sources) => sources,
            Err(error) => {
                faults.push(format!(
                    "hookbox.toml: [[source]]: {}",
                    error.to_string().trim_end()
                ));
                return Vec::new();
            }
        };
        let drafts: Vec<_> = sources
            .into_iter()
            .filter_map(|source| source.draft(&self.environment, faults))
            .collect();
        for (n, draft) in drafts.iter().enumerate() {
            if drafts[..n].iter().any(|other| other.name == draft.name) {
                faults.push(format!(
                    "source '{}' stands in hookbox.toml twice",
                    draft.name
                ));
            }
        }
        drafts
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
        if let Some(value) = self.environment.get(&variable) {
            return (value.clone(), Origin::Environment);
        }
        if setting.secret
            && let Some(path) = self.environment.get(&format!("{variable}_FILE"))
        {
            match std::fs::read_to_string(path) {
                Ok(text) => return (text.trim_end().to_owned(), Origin::Environment),
                Err(error) => faults.push(format!("{variable}_FILE: cannot read {path}: {error}")),
            }
        }
        match table.get(setting.name) {
            Some(toml::Value::String(text)) => (text.clone(), Origin::File),
            Some(toml::Value::Array(parts)) => {
                let parts: Vec<_> = parts
                    .iter()
                    .map(|part| part.as_str().unwrap_or_default())
                    .collect();
                (parts.join(","), Origin::File)
            }
            Some(other) => (other.to_string(), Origin::File),
            None => (setting.default.to_owned(), Origin::Default),
        }
    }
}

/// The setting that was perhaps meant.
fn suggestion(name: &str) -> String {
    let nearest = SETTINGS
        .iter()
        .map(|setting| (distance(name, setting.name), setting.name))
        .min();
    match nearest {
        Some((far, nearest)) if far <= 3 => format!("; did you mean '{nearest}'?"),
        _ => "; `hookbox settings` lists all".to_owned(),
    }
}

/// How many letters must be added, taken away or changed.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = before + usize::from(x != *y);
            before = row[j + 1];
            row[j + 1] = changed.min(before + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

struct Reader<'a> {
    found: &'a BTreeMap<&'static str, (String, Origin)>,
    faults: Vec<String>,
}

impl Reader<'_> {
    fn settings(&mut self, sources: Vec<crate::store::SourceDraft>) -> Option<Settings> {
        let listen = self.read("listen", |text| {
            text.parse()
                .map_err(|_| "write an address and a port, for example 127.0.0.1:8080".to_owned())
        });
        let database = self.read("database", database);
        let egress_allow = self.read("egress_allow", |text| {
            text.parse().map_err(|error| format!("{error}"))
        });
        let allow_http = self.read("allow_http", |text| {
            text.parse().map_err(|_| "write true or false".to_owned())
        });
        let retry_schedule = self.optional("retry_schedule", |text| {
            text.parse().map_err(|error| format!("{error}"))
        });
        let endpoint_concurrency = self.read("endpoint_concurrency", |text| {
            text.parse()
                .ok()
                .filter(|count| (1..=1000).contains(count))
                .ok_or_else(|| "write a number from 1 to 1000".to_owned())
        });
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
        let url = self.read("url", |text| match text.parse::<http::Uri>() {
            Ok(uri) if uri.scheme().is_some() => Ok(text.trim_end_matches('/').to_owned()),
            _ => Err("write for example http://127.0.0.1:8080".to_owned()),
        });
        let admin_token = self.optional("admin_token", |text| {
            if text.len() < SHORTEST_TOKEN {
                return Err(format!("a token has {SHORTEST_TOKEN} characters or more"));
            }
            Ok(Secret::new(text))
        });
        let secret_key = self.optional("secret_key", key);
        let token = self.optional("token", |text| Ok(Secret::new(text)));
        Some(Settings {
            listen: listen?,
            database: database?,
            admin_token,
            secret_key,
            egress_allow: egress_allow?,
            allow_http: allow_http?,
            retry_schedule,
            endpoint_concurrency: endpoint_concurrency?,
            log: log?,
            log_format: log_format?,
            url: url?,
            token,
            sources,
            found: BTreeMap::new(),
        })
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
                    Origin::Flag => format!("--{}", name.replace('_', "-")),
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

fn database(text: &str) -> Result<std::path::PathBuf, String> {
    if let Some(path) = text.strip_prefix("sqlite:") {
        let path = path.strip_prefix("//").unwrap_or(path);
        return if path.is_empty() {
            Err("write sqlite: and a path".to_owned())
        } else {
            Ok(path.into())
        };
    }
    Err(match text.split_once(':') {
        Some(("postgres" | "postgresql" | "mysql", _)) => {
            "this version knows SQLite only; write sqlite: and a path".to_owned()
        }
        _ => "write sqlite: and a path, for example sqlite:hookbox.db".to_owned(),
    })
}

/// A key of 32 bytes in base64.
pub(super) fn key(text: &str) -> Result<[u8; 32], String> {
    let bytes = STANDARD
        .decode(text)
        .map_err(|_| "write base64 of 32 bytes, for example from `openssl rand -base64 32`")?;
    bytes.try_into().map_err(|_| {
        "the key must be 32 bytes, for example from `openssl rand -base64 32`".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(file: &str, environment: &[(&str, &str)], flags: &[(&'static str, &str)]) -> Given {
        Given {
            file: file.to_owned(),
            environment: environment
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect(),
            flags: flags.iter().map(|(k, v)| (*k, (*v).to_owned())).collect(),
        }
    }

    #[test]
    fn flags_overrule_the_environment_and_that_the_file() {
        let file = "listen = \"1.1.1.1:1\"";
        let listen = |environment: &[_], flags: &[_]| {
            given(file, environment, flags)
                .settings()
                .unwrap()
                .listen
                .to_string()
        };
        assert_eq!(listen(&[], &[]), "1.1.1.1:1");
        assert_eq!(listen(&[("HOOKBOX_LISTEN", "2.2.2.2:2")], &[]), "2.2.2.2:2");
        assert_eq!(
            listen(
                &[("HOOKBOX_LISTEN", "2.2.2.2:2")],
                &[("listen", "3.3.3.3:3")]
            ),
            "3.3.3.3:3"
        );
    }

    #[test]
    fn all_faults_are_told_at_once() {
        let file = "lisen = \"x\"\nallow_http = \"maybe\"";
        let environment = [
            ("HOOKBOX_ADMIN_TOKEN", "short"),
            ("HOOKBOX_DATABASE", "postgres://x"),
            ("HOOKBOX_SECRET_KEY", "AAAA"),
        ];
        let faults = given(file, &environment, &[("retry_schedule", "5x")])
            .settings()
            .unwrap_err()
            .0;
        for part in [
            "no setting 'lisen'; did you mean 'listen'?",
            "allow_http: write true or false",
            "HOOKBOX_ADMIN_TOKEN: a token has 32 characters or more",
            "HOOKBOX_DATABASE: this version knows SQLite only",
            "HOOKBOX_SECRET_KEY: the key must be 32 bytes",
            "--retry-schedule: '5x' is not a duration",
        ] {
            assert!(
                faults.iter().any(|fault| fault.contains(part)),
                "{part} in {faults:?}"
            );
        }
        assert_eq!(faults.len(), 6);
    }

    #[test]
    fn a_file_that_is_no_toml_is_a_fault_with_its_place() {
        let faults = given("listen = ", &[], &[])
            .settings()
            .unwrap_err()
            .to_string();
        assert!(faults.contains("line 1"), "{faults}");
    }
}
