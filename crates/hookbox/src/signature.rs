//! What is signed, how it is encoded, how it is compared.
//!
//! A signature is always decoded first and compared as bytes, in constant time; a
//! signature of the wrong length never reaches the comparison.

mod encoding;
pub(crate) mod standard;

use std::fmt;

use ed25519_dalek::{Signature, VerifyingKey};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::Sha256;
use subtle::ConstantTimeEq;

pub(crate) use encoding::Encoding;

use crate::error::SecretError;

/// The most signatures that one request may carry.
///
/// Every one of them costs a comparison, and an ed25519 one far more; a rotation needs
/// two or three.
pub const MAX_SIGNATURES: usize = 16;

/// How a signature is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    HmacSha256,
    HmacSha1,
    Ed25519,
}

impl Algorithm {
    /// The one length that a signature of this kind has, in bytes.
    pub(crate) fn signature_bytes(self) -> usize {
        match self {
            Self::HmacSha256 => 32,
            Self::HmacSha1 => 20,
            Self::Ed25519 => 64,
        }
    }
}

/// A key that can check signatures.
///
/// The HMAC kinds hold the state after the key was taken in, so that each request only
/// pays for its own bytes.
#[derive(Clone)]
pub(crate) enum Key {
    HmacSha256(Hmac<Sha256>),
    HmacSha1(Hmac<Sha1>),
    Ed25519(VerifyingKey),
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({:?}, redacted)", self.algorithm())
    }
}

impl Key {
    /// An HMAC-SHA256 key from its bytes.
    pub(crate) fn hmac_sha256(bytes: &[u8]) -> Self {
        Self::HmacSha256(keyed(bytes))
    }

    /// An HMAC-SHA1 key from its bytes.
    pub(crate) fn hmac_sha1(bytes: &[u8]) -> Self {
        Self::HmacSha1(keyed(bytes))
    }

    pub(crate) fn algorithm(&self) -> Algorithm {
        match self {
            Self::HmacSha256(_) => Algorithm::HmacSha256,
            Self::HmacSha1(_) => Algorithm::HmacSha1,
            Self::Ed25519(_) => Algorithm::Ed25519,
        }
    }

    /// Whether one of `signatures` (of this key's algorithm) signs the parts of `content`,
    /// taken as one string of bytes.
    pub(crate) fn verifies(&self, content: &[&[u8]], signatures: &[&[u8]]) -> bool {
        if signatures.is_empty() {
            return false;
        }
        match self {
            Self::HmacSha256(state) => any_equals(&tag(state, content), signatures),
            Self::HmacSha1(state) => any_equals(&tag(state, content), signatures),
            Self::Ed25519(key) => {
                let message = content.concat();
                signatures.iter().any(|bytes| {
                    // Strict: also refuses the signatures that more than one key accepts.
                    Signature::from_slice(bytes)
                        .is_ok_and(|signature| key.verify_strict(&message, &signature).is_ok())
                })
            }
        }
    }
}

/// The secret of a provider that uses its text as the key, as it stands.
pub(crate) fn text_key(secret: &str) -> Result<&[u8], SecretError> {
    refuse_padding(secret)?;
    Ok(secret.as_bytes())
}

/// Refuses what a copy and paste most often gets wrong.
fn refuse_padding(secret: &str) -> Result<(), SecretError> {
    if secret.trim().is_empty() {
        return Err(SecretError::Empty);
    }
    if secret.trim() != secret {
        return Err(SecretError::Whitespace);
    }
    Ok(())
}

fn keyed<M: KeyInit>(bytes: &[u8]) -> M {
    M::new_from_slice(bytes).expect("HMAC takes a key of any length")
}

/// The HMAC of the parts of `content`, taken as one string of bytes.
fn tag<M: Mac + Clone>(state: &M, content: &[&[u8]]) -> Vec<u8> {
    let mut mac = state.clone();
    for part in content {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}

fn any_equals(expected: &[u8], given: &[&[u8]]) -> bool {
    given.iter().any(|bytes| bool::from(expected.ct_eq(bytes)))
}
