//! Verify and sign webhooks.
//!
//! Everything here is a pure function of its arguments: no network, no clock, no
//! randomness. The time is handed in, and so are the random bytes of a new secret.
//!
//! # Verify what a provider sent
//!
//! A [`Provider`] describes how one sender signs and names its events; with secrets it
//! becomes a [`Verifier`]. Give the verifier the *raw* body: a body that was parsed and
//! written again is no longer the body that was signed.
//!
//! ```
//! use hookbox::{Options, Provider};
//! use http::HeaderMap;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let github = Provider::by_name("github").ok_or("unknown provider")?;
//! // More than one secret may be valid at once, so that rotation loses nothing.
//! let secrets = ["It's a Secret to Everybody".to_owned()];
//! let verifier = github.verifier(&secrets, &Options::default())?;
//!
//! let mut headers = HeaderMap::new();
//! headers.insert("x-github-event", "push".parse()?);
//! headers.insert("x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958".parse()?);
//! headers.insert(
//!     "x-hub-signature-256",
//!     "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17".parse()?,
//! );
//! let event = verifier.verify(&headers, b"Hello, World!", 1_700_000_000)?;
//! assert_eq!(event.event_type, "push");
//!
//! let refusal = verifier.verify(&headers, b"Hello, Mallory!", 1_700_000_000).unwrap_err();
//! assert_eq!(refusal.code(), "signature_mismatch");
//! # Ok(())
//! # }
//! ```
//!
//! # Sign what you send
//!
//! Outgoing messages are signed per [Standard Webhooks](https://www.standardwebhooks.com).
//!
//! ```
//! use hookbox::Secret;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let secret: Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".parse()?;
//! let body = br#"{"test": 2432232314}"#;
//! assert_eq!(
//!     secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body),
//!     "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
//! );
//! # Ok(())
//! # }
//! ```
#![warn(missing_docs)]

mod error;
mod event;
mod header;
mod provider;
mod signature;
mod verify;

pub use error::{ConfigError, Refusal, SecretError};
pub use event::{Event, IdOrigin, UNKNOWN_TYPE};
pub use header::{MAX_ID_BYTES, MAX_TYPE_BYTES};
pub use provider::Provider;
pub use signature::MAX_SIGNATURES;
pub use signature::standard::{PublicKey, Secret, sign_with_all};
pub use verify::{MAX_SECRETS, Options, Verifier};
