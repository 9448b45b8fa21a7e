//! Event types: the names that messages carry and endpoints filter by.

use serde_json::Value;

use super::Time;

/// A kind of event, described for the people who subscribe to it.
#[derive(Clone, Debug, PartialEq)]
pub struct EventType {
    /// Its name, for example `invoice.paid`; the key.
    pub name: String,
    /// What it means.
    pub description: String,
    /// No longer offered; kept because old messages carry it.
    pub archived: bool,
    /// Still sent, soon not.
    pub deprecated: bool,
    /// JSON schemas by version, as given.
    pub schemas: Option<Value>,
    /// Flags that an application needs to see it.
    pub feature_flags: Vec<String>,
    /// The heading it is listed under.
    pub group_name: Option<String>,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}
