//! The providers, each a description of what is its own.
//!
//! Nothing here does anything: [`crate::verify`] is the one flow that reads these
//! descriptions, so a new provider is a new table, not new code.

mod github;
mod shopify;
mod standard_webhooks;
mod stripe;

use crate::signature::{Algorithm, Encoding};

const MIB: usize = 1024 * 1024;

static ALL: [Provider; 4] = [
    stripe::STRIPE,
    shopify::SHOPIFY,
    github::GITHUB,
    standard_webhooks::STANDARD_WEBHOOKS,
];

/// A sender of webhooks: how it signs, and where it puts what an event is called.
#[derive(Debug)]
pub struct Provider {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) max_body_bytes: usize,
    /// How old and how far ahead a signed time may be; none where no time is signed.
    pub(crate) default_tolerance: Option<u64>,
    pub(crate) secret: SecretForm,
    /// Where the signature may be, in order; the first header that is there decides.
    pub(crate) carriers: &'static [Carrier],
    /// What the signature covers.
    pub(crate) content: &'static [Part],
    pub(crate) id: IdFrom,
    pub(crate) event_type: TypeFrom,
    pub(crate) occurred_at: TimeFrom,
    /// The field that holds the JSON when the body comes as a form.
    pub(crate) form_field: Option<&'static str>,
}

impl Provider {
    /// The provider of this name, as it is written in a configuration.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|provider| provider.name == name)
    }

    /// Every provider that is known.
    #[must_use]
    pub fn all() -> &'static [Self] {
        &ALL
    }

    /// The name for configurations and addresses; it never changes.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The name for people.
    #[must_use]
    pub fn title(&self) -> &'static str {
        self.title
    }

    /// The largest body to accept, unless the operator says otherwise.
    #[must_use]
    pub fn max_body_bytes(&self) -> usize {
        self.max_body_bytes
    }

    /// How many seconds a signed time may differ from now, in both directions and
    /// inclusively, unless the operator says otherwise; none where no time is signed.
    #[must_use]
    pub fn default_tolerance(&self) -> Option<u64> {
        self.default_tolerance
    }
}

/// How the text of a secret becomes a key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SecretForm {
    /// The whole text is the key, whatever prefix it has.
    Text,
    /// `whsec_…`, `whpk_…` or `whsk_…`.
    StandardWebhooks,
}

/// The headers in which a signature, and what is signed beside the body, arrive.
#[derive(Debug)]
pub(crate) struct Carrier {
    pub(crate) signature: &'static str,
    pub(crate) form: Form,
    /// A header with the id that the signature covers.
    pub(crate) id: Option<&'static str>,
    /// A header with the time, in seconds, that the signature covers.
    pub(crate) time: Option<&'static str>,
}

/// How a signature header is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// One signature, after a fixed prefix that may be empty.
    One {
        prefix: &'static str,
        algorithm: Algorithm,
        encoding: Encoding,
    },
    /// `name=value` fields, one of them the time.
    Fields {
        separator: char,
        time: &'static str,
        signature: &'static str,
        algorithm: Algorithm,
        encoding: Encoding,
    },
    /// `version,base64` entries with spaces between them.
    Versions(&'static [(&'static str, Algorithm)]),
}

impl Form {
    /// Whether this is the legacy kind that has to be allowed.
    pub(crate) fn is_sha1(self) -> bool {
        matches!(
            self,
            Self::One {
                algorithm: Algorithm::HmacSha1,
                ..
            }
        )
    }
}

/// One part of the signed content; the parts follow one another without anything between.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    Id,
    Time,
    Text(&'static str),
    Body,
}

/// Where the id of an event is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum IdFrom {
    /// In the carrier's id header, covered by the signature.
    Carrier,
    /// In the body, at this path.
    Body(&'static str),
    /// In a header that the signature does not cover.
    Header(&'static str),
    /// In the first of several unsigned headers, and unique only within others.
    Scoped {
        scope: &'static [&'static str],
        /// What to call the id in the joined key, and its header.
        ids: &'static [(&'static str, &'static str)],
    },
}

/// Where the type of an event is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TypeFrom {
    Header(&'static str),
    Body(&'static str),
    /// The header, and after a full stop what the body has at this path, if anything.
    HeaderAndBody(&'static str, &'static str),
}

/// Where the time of an event is: when it happened, not when it was sent.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TimeFrom {
    Nowhere,
    /// RFC 3339, in a header that the signature does not cover.
    Header(&'static str),
    /// RFC 3339, in the body at this path.
    Body(&'static str),
    /// Seconds since 1970, in the body at this path.
    BodySeconds(&'static str),
}
