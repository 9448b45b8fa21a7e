//! Every way this crate says no.
//!
//! The types are leaves: they import nothing of the crate, and their text never holds a
//! secret, a header value or a byte of payload.

/// Why a text is not a usable secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// Nothing, or nothing after the prefix: anyone could sign with an empty key.
    #[error("the secret is empty; copy it again from where it was issued")]
    Empty,
    /// White space before or after, most often a pasted newline.
    #[error("the secret begins or ends with white space; remove it (often a pasted newline)")]
    Whitespace,
    /// What follows the prefix is not base64.
    #[error("the secret is not valid base64 after its prefix; copy it again, whole")]
    NotBase64,
    /// Decoded to a length that this kind of key cannot have.
    #[error("the secret decodes to {actual} bytes; expected {expected}")]
    Length {
        /// How many bytes it decoded to.
        actual: usize,
        /// Which lengths are right, in words.
        expected: &'static str,
    },
    /// Not an ed25519 key: the halves of a `whsk_` do not belong together, or a `whpk_`
    /// is no point of the curve, or one of the few for which anyone can sign.
    #[error("the secret is not a sound ed25519 key; copy it again, whole, or make a new pair")]
    NotAKey,
    /// A public key was given where something has to be signed.
    #[error("a public key (`whpk_…`) can only verify; sign with its private half (`whsk_…`)")]
    CannotSign,
}

/// Why a provider, its secrets and its options do not make a verifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No secret at all: nothing could ever be verified.
    #[error("no secret is configured; add at least one")]
    NoSecret,
    /// More secrets than any rotation needs; each costs one pass over every body.
    #[error("{count} secrets are configured; keep at most {max}")]
    TooManySecrets {
        /// How many there are.
        count: usize,
        /// How many there may be.
        max: usize,
    },
    /// One secret is unusable.
    #[error("secret number {} is unusable: {source}", .index + 1)]
    Secret {
        /// Which one, counted from zero.
        index: usize,
        /// What is wrong with it.
        source: SecretError,
    },
    /// A tolerance was set for a provider that does not sign a time.
    #[error("`{provider}` signs no timestamp, so a tolerance has no effect; remove it")]
    ToleranceUnsupported {
        /// The provider's name.
        provider: &'static str,
    },
    /// SHA-1 was allowed for a provider that has no SHA-1 signature.
    #[error("`{provider}` has no SHA-1 signature to allow; remove the option")]
    Sha1Unsupported {
        /// The provider's name.
        provider: &'static str,
    },
}

/// Why a request was refused.
///
/// The text is for the operator: what happened, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// None of the provider's signature headers is there.
    #[error(
        "the request has no `{header}` header; \
         check that the provider has a secret set and that no proxy removes the header"
    )]
    SignatureMissing {
        /// The header that was expected.
        header: &'static str,
    },
    /// The signature header cannot be read.
    #[error(
        "the `{header}` header is not in this provider's form; \
         check that the sender is the provider that this source is configured for"
    )]
    SignatureMalformed {
        /// The header.
        header: &'static str,
    },
    /// The header is in order, but only with signatures of another scheme or version.
    #[error(
        "the `{header}` header has no signature of a kind that is accepted here; \
         check the kind of secret, and for a SHA-1 signature whether it is allowed"
    )]
    SignatureScheme {
        /// The header.
        header: &'static str,
    },
    /// No signature matches any secret.
    #[error(
        "no signature in the `{header}` header matches a configured secret; check the secret, \
         and that nothing on the way changes the body"
    )]
    SignatureMismatch {
        /// The header.
        header: &'static str,
    },
    /// There is no timestamp where the provider puts one.
    #[error("the request has no timestamp in `{header}`; check that no proxy removes it")]
    TimestampMissing {
        /// The header that should have held it.
        header: &'static str,
    },
    /// The timestamp is not one whole number of seconds.
    #[error(
        "the timestamp in `{header}` is not one whole number of seconds since 1970; \
         check that the sender is the provider that this source is configured for"
    )]
    TimestampMalformed {
        /// The header.
        header: &'static str,
    },
    /// Rightly signed, but too long ago.
    #[error(
        "the request was signed {seconds} s ago and {tolerance} s are tolerated; it was delayed \
         or is a replay, or this machine's clock is ahead"
    )]
    TimestampTooOld {
        /// How long ago.
        seconds: u64,
        /// How long is tolerated.
        tolerance: u64,
    },
    /// Rightly signed, but for a time that has not come.
    #[error(
        "the request was signed {seconds} s in the future and {tolerance} s are tolerated; this \
         machine's clock is behind, or the sender counts milliseconds"
    )]
    TimestampInFuture {
        /// How far ahead.
        seconds: u64,
        /// How far is tolerated.
        tolerance: u64,
    },
    /// The id that the signature covers is not there.
    #[error("the request has no `{header}` header; check that no proxy removes it")]
    IdMissing {
        /// The header.
        header: &'static str,
    },
    /// The id has bytes that an id cannot have.
    #[error("the id in `{header}` has characters that an id may not have; report it to the sender")]
    IdMalformed {
        /// The header.
        header: &'static str,
    },
    /// The id is longer than anything a provider sends.
    #[error("the id in `{header}` is longer than {max} bytes; report it to the sender")]
    IdTooLong {
        /// The header.
        header: &'static str,
        /// The longest id that is accepted.
        max: usize,
    },
    /// A header that must be unique was given more than once.
    #[error(
        "the `{header}` header was given more than once, so it is unclear which one counts; \
         check what on the way adds it"
    )]
    DuplicateHeader {
        /// The header.
        header: &'static str,
    },
    /// A header that describes the event cannot be read.
    #[error("the `{header}` header is not short plain text; check what on the way changes it")]
    HeaderMalformed {
        /// The header.
        header: &'static str,
    },
}

impl Refusal {
    /// A name for this kind of refusal that never changes, for programs and metrics.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::SignatureMissing { .. } => "signature_missing",
            Self::SignatureMalformed { .. } => "signature_malformed",
            Self::SignatureScheme { .. } => "signature_scheme",
            Self::SignatureMismatch { .. } => "signature_mismatch",
            Self::TimestampMissing { .. } => "timestamp_missing",
            Self::TimestampMalformed { .. } => "timestamp_malformed",
            Self::TimestampTooOld { .. } => "timestamp_too_old",
            Self::TimestampInFuture { .. } => "timestamp_in_future",
            Self::IdMissing { .. } => "id_missing",
            Self::IdMalformed { .. } => "id_malformed",
            Self::IdTooLong { .. } => "id_too_long",
            Self::DuplicateHeader { .. } => "duplicate_header",
            Self::HeaderMalformed { .. } => "header_malformed",
        }
    }
}
