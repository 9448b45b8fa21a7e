//! The one flow that every provider's requests go through.
//!
//! Read the headers, check the signature over the raw bytes, then the age, and only then
//! look into the body.

mod claim;

use http::HeaderMap;

use crate::error::{ConfigError, Refusal};
use crate::event::Event;
use crate::provider::{Part, Provider, SecretForm};
use crate::signature::{Algorithm, Key, standard, text_key};
use claim::Claim;

/// The most secrets that one verifier may have.
pub const MAX_SECRETS: usize = 16;

/// What an operator may change about how a provider is verified.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// How many seconds a signed time may differ from now, in both directions and
    /// inclusively. None is the provider's default; nought is nought, not "off".
    pub tolerance_seconds: Option<u64>,
    /// Whether a SHA-1 signature will do where the provider sends no better one.
    pub allow_sha1: bool,
}

/// A provider with its secrets: ready to verify.
#[derive(Debug, Clone)]
pub struct Verifier {
    provider: &'static Provider,
    /// Each with the position of the secret that it came from.
    keys: Vec<(usize, Key)>,
    tolerance: Option<u64>,
}

impl Provider {
    /// Makes a verifier, or says what is wrong with the secrets and options.
    ///
    /// A secret may not be empty or have white space around it; for Standard Webhooks it
    /// must decode to a sound key. Elsewhere any other text is taken, since the provider
    /// issued it or the operator chose it there: GitHub allows one that is short.
    ///
    /// # Errors
    /// When the configuration could never work, or could be forged.
    pub fn verifier(
        &'static self,
        secrets: &[String],
        options: &Options,
    ) -> Result<Verifier, ConfigError> {
        if secrets.is_empty() {
            return Err(ConfigError::NoSecret);
        }
        if secrets.len() > MAX_SECRETS {
            return Err(ConfigError::TooManySecrets {
                count: secrets.len(),
                max: MAX_SECRETS,
            });
        }
        if options.tolerance_seconds.is_some() && self.default_tolerance.is_none() {
            return Err(ConfigError::ToleranceUnsupported {
                provider: self.name,
            });
        }
        if options.allow_sha1 && !self.carriers.iter().any(|carrier| carrier.form.is_sha1()) {
            return Err(ConfigError::Sha1Unsupported {
                provider: self.name,
            });
        }
        let mut keys = Vec::new();
        for (index, secret) in secrets.iter().enumerate() {
            let bad = |source| ConfigError::Secret { index, source };
            match self.secret {
                SecretForm::StandardWebhooks => {
                    keys.push((index, standard::verifying_key(secret).map_err(bad)?));
                }
                SecretForm::Text => {
                    let bytes = text_key(secret).map_err(bad)?;
                    keys.push((index, Key::hmac_sha256(bytes)));
                    // Without such a key, a SHA-1 signature has nothing to match.
                    if options.allow_sha1 {
                        keys.push((index, Key::hmac_sha1(bytes)));
                    }
                }
            }
        }
        Ok(Verifier {
            provider: self,
            keys,
            tolerance: options.tolerance_seconds.or(self.default_tolerance),
        })
    }
}

impl Verifier {
    /// The provider whose requests this verifies.
    #[must_use]
    pub fn provider(&self) -> &'static Provider {
        self.provider
    }

    /// Verifies one request, and reads what kind of event it is.
    ///
    /// `body` is the raw body, as it came. The signature is checked before the age, so
    /// "too old" and "in the future" are only ever said of genuine requests.
    ///
    /// # Errors
    /// When the request is not proven to be the provider's, or not recent.
    pub fn verify(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        now_unix_seconds: i64,
    ) -> Result<Event, Refusal> {
        let claim = Claim::read(self.provider, headers)?;
        let secret_index = self.matching_secret(&claim, body)?;
        self.check_age(&claim, now_unix_seconds)?;
        Event::read(self.provider, claim.id, headers, body, secret_index)
    }

    /// The position of the first secret that one of the signatures was made with.
    fn matching_secret(&self, claim: &Claim<'_>, body: &[u8]) -> Result<usize, Refusal> {
        let content: Vec<&[u8]> = self
            .provider
            .content
            .iter()
            .map(|part| match part {
                Part::Id => claim.id.unwrap_or_default().as_bytes(),
                Part::Time => claim.time.map_or("", |(text, _)| text).as_bytes(),
                Part::Text(text) => text.as_bytes(),
                Part::Body => body,
            })
            .collect();
        let header = claim.header;
        let mut comparable = false;
        for (index, key) in &self.keys {
            let signatures = claim.signatures_of(key.algorithm());
            comparable |= !signatures.is_empty();
            if key.verifies(&content, &signatures) {
                return Ok(*index);
            }
        }
        if comparable {
            Err(Refusal::SignatureMismatch { header })
        } else {
            Err(Refusal::SignatureScheme { header })
        }
    }

    fn check_age(&self, claim: &Claim<'_>, now: i64) -> Result<(), Refusal> {
        let (Some(tolerance), Some((_, signed_at))) = (self.tolerance, claim.time) else {
            return Ok(());
        };
        let seconds = now.abs_diff(signed_at);
        if seconds <= tolerance {
            Ok(())
        } else if signed_at < now {
            Err(Refusal::TimestampTooOld { seconds, tolerance })
        } else {
            Err(Refusal::TimestampInFuture { seconds, tolerance })
        }
    }
}

impl Claim<'_> {
    fn signatures_of(&self, algorithm: Algorithm) -> Vec<&[u8]> {
        self.signatures
            .iter()
            .filter(|(of, _)| *of == algorithm)
            .map(|(_, bytes)| bytes.as_slice())
            .collect()
    }
}
