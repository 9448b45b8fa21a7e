//! What was given beside the settings' values: variables that nobody reads, and texts that must not be shown.

use std::path::PathBuf;

use super::nearest::suggestion;
use super::{Given, SETTINGS};

/// Shorter parts of an address are words that may stand anywhere.
const TELLING: usize = 4;

impl Given {
    /// Variables that look like ours and that nobody reads, each with what was perhaps meant.
    #[must_use]
    pub fn strays(&self) -> Vec<(String, String)> {
        let named: Vec<String> = SETTINGS.iter().map(super::Setting::variable).collect();
        let mut names: Vec<&str> = named.iter().map(String::as_str).collect();
        names.push("HOOKBOX_CONFIG");
        let of_file = |name: &str| {
            let mut secrets = SETTINGS.iter().filter(|setting| setting.secret);
            secrets.any(|setting| format!("{}_FILE", setting.variable()) == name)
        };
        let of_sources = self.variables_of_sources();
        let ours = self.environment.keys().filter(|name| {
            name.starts_with("HOOKBOX_")
                && !names.contains(&name.as_str())
                && !of_file(name)
                && !of_sources.contains(name)
        });
        ours.map(|name| (name.clone(), suggestion(name, &names)))
            .collect()
    }

    /// The files that secrets are read from.
    #[must_use]
    pub fn secret_files(&self) -> Vec<PathBuf> {
        let variables = SETTINGS.iter().filter(|setting| setting.secret);
        let variables = variables.map(|setting| format!("{}_FILE", setting.variable()));
        let mut files: Vec<PathBuf> = variables
            .filter_map(|name| self.environment.get(&name))
            .map(Into::into)
            .collect();
        files.extend(self.of_sources("file").map(PathBuf::from));
        files
    }

    /// Whether the settings file holds a secret itself.
    #[must_use]
    pub fn file_is_secret(&self) -> bool {
        let table = self.table(&mut Vec::new());
        let in_address = table.get("database").and_then(toml::Value::as_str);
        SETTINGS
            .iter()
            .any(|setting| setting.secret && table.contains_key(setting.name))
            || in_address.is_some_and(|url| !of_address(url).is_empty())
            || secrets_of_sources(&table).any(|secret| secret.is_str())
    }

    /// Texts that must not be shown, whatever is wrong with the settings: secrets, and what may be part of one.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let table = self.table(&mut Vec::new());
        let found = self.found(&table, &mut Vec::new());
        let mut secrets: Vec<String> = SETTINGS
            .iter()
            .filter(|setting| setting.secret)
            .map(|setting| found[setting.name].0.clone())
            .collect();
        secrets.extend(of_address(&found["database"].0));
        secrets.extend(
            secrets_of_sources(&table).filter_map(|secret| secret.as_str().map(str::to_owned)),
        );
        for name in self.variables_of_sources() {
            secrets.extend(self.environment.get(&name).cloned());
        }
        secrets.retain(|secret| secret.len() >= TELLING);
        // The longest first: a part of another must not break it up.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets
    }

    fn variables_of_sources(&self) -> Vec<String> {
        self.of_sources("env").collect()
    }

    /// What the secrets of sources say under that name.
    fn of_sources(&self, name: &str) -> impl Iterator<Item = String> {
        let table = self.table(&mut Vec::new());
        let found: Vec<String> = secrets_of_sources(&table)
            .filter_map(|secret| secret.get(name)?.as_str().map(str::to_owned))
            .collect();
        found.into_iter()
    }
}

fn secrets_of_sources(table: &toml::Table) -> impl Iterator<Item = &toml::Value> {
    let sources = table.get("source").and_then(toml::Value::as_array);
    sources
        .into_iter()
        .flatten()
        .filter_map(|source| source.get("secrets")?.as_array())
        .flatten()
}

/// The password of an address, and its parts: one that is not encoded may be read as something else.
fn of_address(address: &str) -> Vec<String> {
    let mut secrets = Vec::new();
    let Some((_, rest)) = address.split_once("://") else {
        return secrets;
    };
    let password = rest
        .rsplit_once('@')
        .and_then(|(before, _)| before.split_once(':'));
    secrets.extend(password.map(|(_, password)| password.to_owned()));
    for part in rest.split(['?', '&']).skip(1) {
        secrets.extend(part.strip_prefix("password=").map(str::to_owned));
    }
    for secret in secrets.clone() {
        let decoded = url::form_urlencoded::parse(secret.replace('+', "%2B").as_bytes())
            .map(|(name, _)| name.into_owned())
            .next();
        secrets.extend(decoded);
        let parts = secret.split(['@', '/', ':', '?', '#', '&']);
        secrets.extend(parts.map(str::to_owned));
    }
    secrets.retain(|secret| secret.len() >= TELLING);
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_nobody_reads_is_told() {
        let mut given = Given {
            file: "[[source]]\nname = \"a\"\nsecrets = [{ env = \"HOOKBOX_STRIPE\" }]".into(),
            ..Given::default()
        };
        for name in [
            "HOOKBOX_LISTEN",
            "HOOKBOX_CONFIG",
            "HOOKBOX_SECRET_KEY_FILE",
            "HOOKBOX_STRIPE",
            "HOOKBOX_LISTEN_FILE",
            "HOOKBOX_DATABSE",
            "PATH",
        ] {
            given.environment.insert(name.into(), String::new());
        }
        let strays = given.strays();
        let names: Vec<_> = strays.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["HOOKBOX_DATABSE", "HOOKBOX_LISTEN_FILE"]);
        assert!(strays[0].1.contains("'HOOKBOX_DATABASE'"), "{strays:?}");
    }

    #[test]
    fn secrets_are_known_wherever_they_stand() {
        let mut given = Given {
            file: "admin_token = \"of-file\"\ndatabase = \"postgres://u:one%20two@h/d?password=three\"\n\
                   [[source]]\nsecrets = [\"whsec_x\", { env = \"S\" }, { file = \"/s\" }]"
                .into(),
            ..Given::default()
        };
        given.environment.insert("S".into(), "of-source".into());
        let secrets = given.secrets();
        for secret in [
            "of-file",
            "one two",
            "one%20two",
            "three",
            "whsec_x",
            "of-source",
        ] {
            assert!(secrets.iter().any(|known| known == secret), "{secret}");
        }
        assert!(given.file_is_secret());
        assert_eq!(given.secret_files(), [PathBuf::from("/s")]);
        assert!(of_address("mysql://u:half@rest/of@h/d").contains(&"half".to_owned()));
        assert_eq!(of_address("postgres://postgres@h/d"), [] as [String; 0]);
    }
}
