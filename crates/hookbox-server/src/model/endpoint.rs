//! Endpoints: who wants to know.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::application::Metadata;
use super::secret::Secret;
use super::{ApplicationId, EndpointId, Message, Schedule, SourceId, Time};

/// Where messages of an application are delivered, and which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its own name, made by Hookbox.
    pub id: EndpointId,
    /// Whose messages it gets.
    pub application_id: ApplicationId,
    /// Its name, made by the user; unique in the application.
    pub uid: Option<String>,
    /// Where it is, in normalized form.
    pub url: String,
    /// What people call it.
    pub description: String,
    /// Deliveries a second, as given by the user.
    pub throttle_rate: Option<u16>,
    /// The event types it wants; all when `None`.
    pub event_types: Option<Vec<String>>,
    /// The channels it listens to; all when `None`.
    pub channels: Option<Vec<String>>,
    /// The one source it takes, for a `forward` address; `None` for one made over the API.
    pub source: Option<SourceId>,
    /// Written by the operator: any address may be reached. A stranger's is judged on every connection.
    pub trusted: bool,
    /// Why nothing is sent to it, if so.
    pub disabled: Option<Disabled>,
    /// The user's own notes.
    pub metadata: Metadata,
    /// Headers that every request to it carries.
    pub headers: Vec<(String, Secret)>,
    /// What its messages are signed with: the current secret first, then those being rotated out.
    pub secrets: Vec<SigningSecret>,
    /// Its own waits between tries, if it has any.
    pub retry_schedule: Option<Schedule>,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}

/// Why an endpoint gets nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disabled {
    /// Its owner switched it off.
    ByUser,
    /// It answered 410 Gone.
    Gone,
}

impl Disabled {
    /// The stable name, as stored.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::ByUser => "user",
            Self::Gone => "gone",
        }
    }

    /// The reason of that name.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        [Self::ByUser, Self::Gone]
            .into_iter()
            .find(|reason| reason.code() == code)
    }
}

/// A signing secret (`whsec_…` or `whsk_…`) and how long it is still used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningSecret {
    /// The secret.
    pub key: Secret,
    /// When it stops being used; `None` for the current one.
    pub expires_at: Option<Time>,
}

impl SigningSecret {
    /// A new symmetric secret: 24 random bytes, as the Standard Webhooks specification asks at least.
    #[must_use]
    pub fn generate() -> Self {
        let bytes: [u8; 24] = rand::random();
        Self {
            key: Secret::new(format!("whsec_{}", STANDARD.encode(bytes))),
            expires_at: None,
        }
    }
}

impl Endpoint {
    /// Whether this endpoint gets that message. Says nothing about whether it is disabled.
    #[must_use]
    pub fn wants(&self, message: &Message) -> bool {
        if let Some(source) = self.source {
            return message.source == Some(source);
        }
        let type_fits = self
            .event_types
            .as_ref()
            .is_none_or(|wanted| wanted.contains(&message.event_type));
        let channel_fits = self.channels.as_ref().is_none_or(|wanted| {
            message
                .channels
                .iter()
                .any(|channel| wanted.contains(channel))
        });
        type_fits && channel_fits
    }

    /// The secrets to sign with now.
    pub fn live_secrets(&self, now: Time) -> impl Iterator<Item = &Secret> {
        self.secrets
            .iter()
            .filter(move |secret| secret.expires_at.is_none_or(|end| end > now))
            .map(|secret| &secret.key)
    }

    /// The waits between tries: its own, else what the operator set for all, else the default of its kind.
    #[must_use]
    pub fn schedule(&self, set_for_all: Option<&Schedule>) -> Schedule {
        self.retry_schedule
            .as_ref()
            .or(set_for_all)
            .cloned()
            .unwrap_or_else(|| {
                if self.trusted {
                    Schedule::own_app()
                } else {
                    Schedule::standard_webhooks()
                }
            })
    }
}
