//! Standard Webhooks: its secrets, and signing with them.
//!
//! Source: the Standard Webhooks specification 1.0.0. The signed content is
//! `{id}.{timestamp}.{body}`, with the exact bytes of the body; a signature is `v1,` and
//! the base64 of an HMAC-SHA256, or `v1a,` and the base64 of an ed25519 signature.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use hmac::Hmac;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::{Key, keyed, refuse_padding, tag};
use crate::error::SecretError;

const SYMMETRIC: &str = "whsec_";
const PRIVATE: &str = "whsk_";
const PUBLIC: &str = "whpk_";

/// Some issuers leave the padding off; nothing else is forgiven.
const SECRET_BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A Standard Webhooks secret that can sign.
///
/// Parse one from `whsec_` and base64 (the prefix may be left off), or from `whsk_` and
/// base64 of an ed25519 private key: 64 bytes (seed, then public key) or the 32-byte seed
/// alone. A symmetric secret is 24 to 75 bytes; the specification says 24 to 64, and
/// issuers are known to go a little beyond. The text is never printed by `Debug`.
#[derive(Clone)]
pub struct Secret(Kind);

#[derive(Clone)]
enum Kind {
    Symmetric {
        bytes: Zeroizing<Vec<u8>>,
        /// The state after the key was taken in: signing pays for the message alone.
        state: Hmac<Sha256>,
    },
    Asymmetric(SigningKey),
}

impl Secret {
    /// A symmetric secret from random bytes of the caller's, 24 to 75 of them; 32 is a
    /// good number.
    ///
    /// # Errors
    /// When there are too few or too many.
    pub fn symmetric(random: &[u8]) -> Result<Self, SecretError> {
        match random.len() {
            0 => Err(SecretError::Empty),
            24..=75 => Ok(Self(Kind::Symmetric {
                bytes: Zeroizing::new(random.to_vec()),
                state: keyed(random),
            })),
            actual => Err(SecretError::Length {
                actual,
                expected: "24 to 75",
            }),
        }
    }

    /// An ed25519 key pair from 32 random bytes of the caller's.
    #[must_use]
    pub fn asymmetric(seed: &[u8; 32]) -> Self {
        Self(Kind::Asymmetric(SigningKey::from_bytes(seed)))
    }

    /// Signs one attempt: one entry of a `webhook-signature` header.
    ///
    /// `id` stays the same over all attempts of a message, and may contain no full stop;
    /// `timestamp_seconds` is the time of this attempt, and goes into `webhook-timestamp`.
    #[must_use]
    pub fn sign(&self, id: &str, timestamp_seconds: i64, body: &[u8]) -> String {
        let head = format!("{id}.{timestamp_seconds}.");
        match &self.0 {
            Kind::Symmetric { state, .. } => {
                let tag = tag(state, &[head.as_bytes(), body]);
                format!("v1,{}", STANDARD.encode(tag))
            }
            Kind::Asymmetric(key) => {
                let signature = key.sign(&[head.as_bytes(), body].concat());
                format!("v1a,{}", STANDARD.encode(signature.to_bytes()))
            }
        }
    }

    /// The public half, for the receiver to verify with; none for a symmetric secret.
    #[must_use]
    pub fn public(&self) -> Option<PublicKey> {
        match &self.0 {
            Kind::Symmetric { .. } => None,
            Kind::Asymmetric(key) => Some(PublicKey(key.verifying_key())),
        }
    }

    /// The secret as text (`whsec_…` or `whsk_…`), to be shown once and stored with care.
    #[must_use]
    pub fn expose(&self) -> String {
        match &self.0 {
            Kind::Symmetric { bytes, .. } => format!("{SYMMETRIC}{}", STANDARD.encode(bytes)),
            Kind::Asymmetric(key) => {
                format!("{PRIVATE}{}", STANDARD.encode(key.to_keypair_bytes()))
            }
        }
    }
}

impl FromStr for Secret {
    type Err = SecretError;

    fn from_str(text: &str) -> Result<Self, SecretError> {
        refuse_padding(text)?;
        if text.starts_with(PUBLIC) {
            return Err(SecretError::CannotSign);
        }
        let Some(private) = text.strip_prefix(PRIVATE) else {
            return Self::symmetric(&decode(text.strip_prefix(SYMMETRIC).unwrap_or(text))?);
        };
        let bytes = decode(private)?;
        if let Ok(seed) = bytes.as_slice().try_into() {
            return Ok(Self::asymmetric(seed));
        }
        let pair = bytes
            .as_slice()
            .try_into()
            .map_err(|_| SecretError::Length {
                actual: bytes.len(),
                expected: "32 or 64",
            })?;
        SigningKey::from_keypair_bytes(pair)
            .map(|key| Self(Kind::Asymmetric(key)))
            .map_err(|_| SecretError::NotAKey)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Kind::Symmetric { .. } => "Secret(symmetric, redacted)",
            Kind::Asymmetric(_) => "Secret(asymmetric, redacted)",
        })
    }
}

/// A Standard Webhooks public key: it verifies, and may be published.
///
/// Parsed from and printed as `whpk_` and the base64 of 32 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl FromStr for PublicKey {
    type Err = SecretError;

    fn from_str(text: &str) -> Result<Self, SecretError> {
        refuse_padding(text)?;
        let bytes = decode(text.strip_prefix(PUBLIC).unwrap_or(text))?;
        let point = bytes
            .as_slice()
            .try_into()
            .map_err(|_| SecretError::Length {
                actual: bytes.len(),
                expected: "32",
            })?;
        match VerifyingKey::from_bytes(point) {
            Ok(key) if !key.is_weak() => Ok(Self(key)),
            Ok(_) | Err(_) => Err(SecretError::NotAKey),
        }
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC}{}", STANDARD.encode(self.0.as_bytes()))
    }
}

/// Signs one attempt with several secrets: the whole value of a `webhook-signature`
/// header, for the time in which an old secret and a new one are both in use.
#[must_use]
pub fn sign_with_all(secrets: &[Secret], id: &str, timestamp_seconds: i64, body: &[u8]) -> String {
    let signatures: Vec<String> = secrets
        .iter()
        .map(|secret| secret.sign(id, timestamp_seconds, body))
        .collect();
    signatures.join(" ")
}

/// The key that checks signatures, from any of the three kinds of text.
pub(crate) fn verifying_key(text: &str) -> Result<Key, SecretError> {
    if text.starts_with(PUBLIC) {
        return text.parse().map(|PublicKey(key)| Key::Ed25519(key));
    }
    text.parse().map(|Secret(kind)| match kind {
        Kind::Symmetric { state, .. } => Key::HmacSha256(state),
        Kind::Asymmetric(key) => Key::Ed25519(key.verifying_key()),
    })
}

fn decode(text: &str) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    if text.is_empty() {
        return Err(SecretError::Empty);
    }
    SECRET_BASE64
        .decode(text)
        .map(Zeroizing::new)
        .map_err(|_| SecretError::NotBase64)
}
