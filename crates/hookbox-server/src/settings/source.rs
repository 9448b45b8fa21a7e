//! The `[[source]]` tables of the settings file.

use std::collections::BTreeMap;

use serde::Deserialize;

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

/// A secret as written.
#[derive(Deserialize)]
#[serde(untagged)]
enum SecretTable {
    Plain(String),
    Env { env: String },
    File { file: String },
}

/// A source as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SourceTable {
    name: String,
    provider: String,
    secrets: Vec<SecretTable>,
    #[serde(default)]
    forward: Vec<String>,
    app: Option<String>,
    tolerance: Option<String>,
    max_body: Option<String>,
    #[serde(default)]
    allow_sha1: bool,
}

impl SourceTable {
    /// Checks a source. Says what is wrong by adding to the faults.
    pub(super) fn draft(
        self,
        environment: &BTreeMap<String, String>,
        faults: &mut Vec<String>,
    ) -> Option<SourceDraft> {
        let before = faults.len();
        let mut fault = |problem: String| faults.push(format!("source '{}': {problem}", self.name));
        if !is_source_name(&self.name) {
            fault(NAME_RULE.to_owned());
        }
        let mut secrets = Vec::new();
        for secret in &self.secrets {
            match secret.value(environment) {
                Ok(value) => secrets.push(Secret::new(value)),
                Err(problem) => fault(problem),
            }
        }
        let tolerance_seconds =
            self.tolerance
                .as_deref()
                .and_then(|text| match humantime::parse_duration(text) {
                    Ok(duration) => Some(duration.as_secs()),
                    Err(_) => {
                        fault(format!(
                            "tolerance '{text}' is not a duration; write for example 5m"
                        ));
                        None
                    }
                });
        let max_body_bytes = self.max_body.as_deref().and_then(|text| {
            let bytes = size(text);
            if bytes.is_none() {
                fault(format!(
                    "max_body '{text}' is not a size; write for example 1MiB"
                ));
            }
            bytes
        });
        for url in &self.forward {
            if let Err(bad) = egress::check(url, &Policy::Trusted) {
                fault(format!("forward '{url}': {bad}"));
            }
        }
        let rules = Rules {
            tolerance_seconds,
            allow_sha1: self.allow_sha1,
            max_body_bytes,
        };
        if secrets.len() == self.secrets.len()
            && let Err(problem) = check(&self.provider, &secrets, &rules)
        {
            fault(problem);
        }
        (faults.len() == before).then(|| SourceDraft {
            name: self.name,
            application_uid: self
                .app
                .unwrap_or_else(|| Application::DEFAULT_UID.to_owned()),
            provider: self.provider,
            secrets,
            rules,
            forward: self.forward,
            from_file: true,
        })
    }
}

impl SecretTable {
    fn value(&self, environment: &BTreeMap<String, String>) -> Result<String, String> {
        match self {
            Self::Plain(text) => Ok(text.clone()),
            Self::Env { env } => environment
                .get(env)
                .cloned()
                .ok_or_else(|| format!("the variable {env} is not set")),
            Self::File { file } => std::fs::read_to_string(file)
                .map(|text| text.trim_end_matches(['\r', '\n']).to_owned())
                .map_err(|error| format!("cannot read {file}: {error}")),
        }
    }
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
mod tests {
    use super::*;
    use crate::settings::Given;

    #[test]
    fn reads_sizes() {
        let table = [
            ("1MiB", Some(1 << 20)),
            ("26 MiB", Some(26 << 20)),
            ("10", Some(10)),
            ("1KiB", Some(1024)),
        ];
        for (text, bytes) in table {
            assert_eq!(size(text), bytes, "{text}");
        }
        for text in ["", "0", "x", "1MB", "-1", "99999999999999999999GiB"] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    #[test]
    fn reads_a_source_and_tells_what_is_wrong_with_one() {
        let good = Given {
            file: "[[source]]\nname = \"stripe\"\nprovider = \"stripe\"\nsecrets = [{ env = \"S\" }, \"whsec_b\"]\n\
                   forward = [\"http://127.0.0.1:3000/x\"]\ntolerance = \"1m\"\nmax_body = \"2MiB\""
                .to_owned(),
            environment: [("S".to_owned(), "whsec_a".to_owned())].into(),
            ..Given::default()
        };
        let source = &good.settings().unwrap().sources[0];
        assert_eq!(
            source
                .secrets
                .iter()
                .map(Secret::expose)
                .collect::<Vec<_>>(),
            ["whsec_a", "whsec_b"]
        );
        assert_eq!(source.application_uid, "default");
        assert_eq!(
            (source.rules.tolerance_seconds, source.rules.max_body_bytes),
            (Some(60), Some(2 << 20))
        );

        let bad = Given {
            file: "[[source]]\nname = \"A b\"\nprovider = \"strip\"\nsecrets = []\nforward = [\"x\"]\ntolerance = \"y\"".to_owned(),
            ..Given::default()
        };
        let faults = bad.settings().unwrap_err().0;
        assert_eq!(faults.len(), 4, "{faults:?}");
    }
}
