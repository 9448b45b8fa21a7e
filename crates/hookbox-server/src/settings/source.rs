//! The `[[source]]` tables of the settings file.

use std::collections::BTreeMap;

use toml::Value;

use super::nearest::suggestion;
use crate::door::provider::check;
use crate::egress::{self, Policy};
use crate::model::source::{NAME_RULE, Rules, is_source_name};
use crate::model::{Application, Secret};
use crate::store::SourceDraft;

pub(super) const PAGE: &str = r#"
## Sources

```toml
[[source]]
name = "stripe"                  # POST /in/stripe
provider = "stripe"              # stripe, shopify, github, standard-webhooks
secrets = [                      # several while one is rotated
    { env = "STRIPE_SECRET" },   # from the environment,
    { file = "/run/secrets/x" }, # from a file,
    "whsec_…",                   # or as it is
]
forward = ["http://127.0.0.1:3000/webhooks/stripe"]   # your own app: any address

app = "default"                  # the application that its events belong to, by uid
tolerance = "5m"                 # how far a signed time may be from now; not for shopify and github
max_body = "1MiB"                # the largest body taken; 26MiB for github
allow_sha1 = false               # take GitHub's old signature too
```

A source that is taken out of the file is closed at the next start; its events stay. The n-th `forward` address stays
one endpoint when it is rewritten: what waits for it goes to the new address.
"#;

/// What a source may have.
const FIELDS: [&str; 8] = [
    "name",
    "provider",
    "secrets",
    "forward",
    "app",
    "tolerance",
    "max_body",
    "allow_sha1",
];

/// Checks a source. Says what is wrong by adding to the faults, without the values: one may be a secret.
pub(super) fn draft(
    table: Value,
    environment: &BTreeMap<String, String>,
    faults: &mut Vec<String>,
) -> Option<SourceDraft> {
    let Value::Table(mut table) = table else {
        faults.push("a source is a table: write [[source]] above it".to_owned());
        return None;
    };
    let Some(Value::String(name)) = table.remove("name") else {
        faults.push("a source has no name: write name = \"…\"".to_owned());
        return None;
    };
    let mut reader = Reader {
        table,
        faults: Vec::new(),
    };
    let draft = reader.draft(name.clone(), environment);
    let sound = reader.faults.is_empty();
    let told = reader.faults.into_iter();
    faults.extend(told.map(|fault| format!("source '{name}': {fault}")));
    draft.filter(|_| sound)
}

/// Takes the fields out of a source's table.
struct Reader {
    table: toml::Table,
    faults: Vec<String>,
}

impl Reader {
    fn draft(
        &mut self,
        name: String,
        environment: &BTreeMap<String, String>,
    ) -> Option<SourceDraft> {
        if !is_source_name(&name) {
            self.faults.push(NAME_RULE.to_owned());
        }
        if !self.table.contains_key("provider") {
            self.faults.push("it has no provider".to_owned());
        }
        let provider = self.text("provider");
        let secrets = self.secrets(environment);
        let forward = self.forward();
        let app = self.text("app");
        let tolerance = self.text("tolerance").and_then(|text| {
            let read = humantime::parse_duration(&text);
            self.fine(read.ok(), || {
                format!("tolerance '{text}' is not a duration; write for example 5m")
            })
        });
        let max_body_bytes = self.text("max_body").and_then(|text| {
            self.fine(size(&text), || {
                format!("max_body '{text}' is not a size; write for example 1MiB")
            })
        });
        let rules = Rules {
            tolerance_seconds: tolerance.map(|tolerance| tolerance.as_secs()),
            allow_sha1: self.flag("allow_sha1"),
            max_body_bytes,
        };
        for field in self.table.keys() {
            let meant = suggestion(field, &FIELDS);
            self.faults
                .push(format!("a source has no '{field}'{meant}"));
        }
        let (provider, secrets) = (provider?, secrets?);
        if let Err(problem) = check(&provider, &secrets, &rules) {
            self.faults.push(problem);
        }
        Some(SourceDraft {
            name,
            application_uid: app.unwrap_or_else(|| Application::DEFAULT_UID.to_owned()),
            provider,
            secrets,
            rules,
            forward,
            from_file: true,
        })
    }

    fn fine<T>(&mut self, value: Option<T>, fault: impl FnOnce() -> String) -> Option<T> {
        if value.is_none() {
            self.faults.push(fault());
        }
        value
    }

    fn text(&mut self, field: &str) -> Option<String> {
        match self.table.remove(field)? {
            Value::String(text) => Some(text),
            // A size may be a plain number of bytes.
            Value::Integer(number) => Some(number.to_string()),
            _ => self.fine(None, || format!("{field}: write a text in quotes")),
        }
    }

    fn flag(&mut self, field: &str) -> bool {
        match self.table.remove(field) {
            None => false,
            Some(Value::Boolean(set)) => set,
            Some(_) => self
                .fine(None, || format!("{field}: write true or false"))
                .unwrap_or_default(),
        }
    }

    fn list(&mut self, field: &str) -> Option<Vec<Value>> {
        match self.table.remove(field)? {
            Value::Array(list) => Some(list),
            _ => self.fine(None, || format!("{field}: write a list, [ … ]")),
        }
    }

    /// `None` when one of them cannot be had.
    fn secrets(&mut self, environment: &BTreeMap<String, String>) -> Option<Vec<Secret>> {
        if !self.table.contains_key("secrets") {
            return Some(Vec::new());
        }
        let list = self.list("secrets")?;
        let count = list.len();
        let read = list.into_iter().map(|secret| value(secret, environment));
        let (secrets, problems): (Vec<_>, Vec<_>) = read.partition(Result::is_ok);
        self.faults
            .extend(problems.into_iter().filter_map(Result::err));
        let secrets: Vec<_> = secrets.into_iter().flatten().collect();
        (secrets.len() == count).then_some(secrets)
    }

    fn forward(&mut self) -> Vec<String> {
        let mut addresses = Vec::new();
        for address in self.list("forward").unwrap_or_default() {
            let Value::String(address) = address else {
                self.faults
                    .push("forward: write addresses in quotes".to_owned());
                continue;
            };
            if let Err(bad) = egress::check(&address, &Policy::Trusted) {
                self.faults.push(format!("forward '{address}': {bad}"));
            }
            addresses.push(address);
        }
        addresses
    }
}

/// A secret as it is, from the environment or from a file.
fn value(secret: Value, environment: &BTreeMap<String, String>) -> Result<Secret, String> {
    let rule = "secrets: write \"…\", { env = \"NAME\" } or { file = \"PATH\" }";
    let table = match secret {
        Value::String(text) => return Ok(Secret::new(text)),
        Value::Table(table) if table.len() == 1 => table,
        _ => return Err(rule.to_owned()),
    };
    let part = |name: &str| table.get(name).and_then(Value::as_str);
    if let Some(name) = part("env") {
        return match environment.get(name) {
            Some(text) if !text.is_empty() => Ok(Secret::new(text)),
            _ => Err(format!("the variable {name} is not set")),
        };
    }
    let path = part("file").ok_or(rule)?;
    std::fs::read_to_string(path)
        .map(|text| Secret::new(text.trim_end_matches(['\r', '\n'])))
        .map_err(|error| format!("cannot read {path}: {error}"))
}

/// Reads `1MiB`, `512KiB` or a number of bytes.
fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10), ("B", 0), ("", 0)];
    let (digits, shift) = units
        .into_iter()
        .find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)))?;
    digits
        .trim()
        .parse::<u64>()
        .ok()?
        .checked_mul(1 << shift)
        .filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests;
