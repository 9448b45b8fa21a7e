//! Reading settings: every fault is found before any is reported.

use std::collections::BTreeMap;
use std::path::Path;

use super::parse::Parser;
use super::source::SourceTable;
use super::{Origin, SETTINGS, Setting, Settings};

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
