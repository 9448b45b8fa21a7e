//! Applications: whoever messages and endpoints belong to.

use std::collections::BTreeMap;

use super::{ApplicationId, Time};

/// Free text that a user keeps with a thing; at most 4,096 bytes as JSON.
pub type Metadata = BTreeMap<String, String>;

/// A tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// Its own name, made by Hookbox.
    pub id: ApplicationId,
    /// Its name, made by the user; unique among applications.
    pub uid: Option<String>,
    /// What people call it.
    pub name: String,
    /// Deliveries a second, as given by the user.
    pub throttle_rate: Option<u16>,
    /// The user's own notes.
    pub metadata: Metadata,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}

impl Application {
    /// The uid of the application that sources belong to when they name none.
    pub const DEFAULT_UID: &'static str = "default";

    /// A new one of that uid, which is also its name.
    #[must_use]
    pub fn named(uid: &str, now: Time) -> Self {
        Self {
            id: ApplicationId::new(now),
            uid: Some(uid.to_owned()),
            name: uid.to_owned(),
            throttle_rate: None,
            metadata: Metadata::default(),
            created_at: now,
            updated_at: now,
        }
    }
}
