//! Secrets at rest: sealed with the operator's key before they reach a database.
//!
//! XChaCha20-Poly1305 with a random 24-byte nonce in front. Each sealed text is bound to what it belongs to,
//! so that one row's secret moved to another row does not open.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};

use super::{Error, Result};

const NONCE: usize = 24;
/// The text that is sealed to recognise the operator's key.
pub(super) const KEY_CHECK: &[u8] = b"hookbox";

/// Seals and opens secrets.
#[derive(Clone)]
pub struct Sealer(XChaCha20Poly1305);

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sealer")
    }
}

impl Sealer {
    /// Uses this key, the operator's `HOOKBOX_SECRET_KEY`.
    #[must_use]
    pub fn new(key: [u8; 32]) -> Self {
        Self(XChaCha20Poly1305::new(&Key::from(key)))
    }

    /// Seals a text that belongs to `owner`, for example a row's id.
    #[must_use]
    pub fn seal(&self, owner: &[u8], text: &[u8]) -> Vec<u8> {
        let nonce: [u8; NONCE] = rand::random();
        let sealed = self
            .0
            .encrypt(
                &XNonce::from(nonce),
                Payload {
                    msg: text,
                    aad: owner,
                },
            )
            .expect("only a text of 256 GiB is too long to seal");
        [&nonce[..], &sealed].concat()
    }

    /// Opens what was sealed for `owner`.
    ///
    /// # Errors
    /// [`Error::Unreadable`] when it was sealed with another key, for another owner, or was altered.
    pub fn open(&self, owner: &[u8], sealed: &[u8]) -> Result<Vec<u8>> {
        let wrong = || {
            Error::Unreadable(
                "a secret was sealed with another HOOKBOX_SECRET_KEY, or altered".into(),
            )
        };
        let (nonce, text) = sealed.split_first_chunk::<NONCE>().ok_or_else(wrong)?;
        self.0
            .decrypt(
                &XNonce::from(*nonce),
                Payload {
                    msg: text,
                    aad: owner,
                },
            )
            .map_err(|_| wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_for_its_owner_and_key_alone() {
        let sealer = Sealer::new([7; 32]);
        let sealed = sealer.seal(b"ep_1", b"whsec_x");
        assert_eq!(sealer.open(b"ep_1", &sealed).unwrap(), b"whsec_x");
        assert!(sealer.open(b"ep_2", &sealed).is_err());
        assert!(Sealer::new([8; 32]).open(b"ep_1", &sealed).is_err());
        for cut in 0..sealed.len() {
            assert!(sealer.open(b"ep_1", &sealed[..cut]).is_err());
        }
        assert_ne!(sealed, sealer.seal(b"ep_1", b"whsec_x"));
    }
}
