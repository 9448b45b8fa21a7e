//! Sources: doors for incoming webhooks.

use super::secret::Secret;
use super::{ApplicationId, SourceId, Time};

/// A door for one provider's webhooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its own name, made by Hookbox.
    pub id: SourceId,
    /// Its name in the address, `POST /in/{name}`.
    pub name: String,
    /// Whose messages its events become.
    pub application_id: ApplicationId,
    /// The provider's name, for example `stripe`.
    pub provider: String,
    /// The secrets that a request may be signed with; several while one is rotated.
    pub secrets: Vec<Secret>,
    /// How its requests are checked.
    pub rules: Rules,
    /// Written in the settings file, and so only changed there.
    pub from_file: bool,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}

/// How a source's requests are checked; `None` is the provider's own rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Rules {
    /// How far a signed time may be from now, in seconds, either way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance_seconds: Option<u64>,
    /// Take GitHub's old SHA-1 signature too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allow_sha1: bool,
    /// The largest body taken, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_body_bytes: Option<u64>,
}

/// What a source may be called, in a sentence.
pub const NAME_RULE: &str =
    "a source's name has 1 to 64 of a-z, 0-9, - and _, and begins with a letter or digit";

/// Whether a source may be called that.
#[must_use]
pub fn is_source_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=64).contains(&name.len())
        && name.starts_with(plain)
        && name.chars().all(|c| plain(c) || matches!(c, '-' | '_'))
}
