//! GitHub.
//!
//! Source: GitHub's documentation, "Validating webhook deliveries" and "Webhook events and
//! payloads". Only the body is signed; with the form content type that is the whole form,
//! whose `payload` field is the JSON. `X-GitHub-Delivery` stays the same when a delivery is
//! sent again by hand. The SHA-1 header is kept by GitHub for old receivers and is looked
//! at only when the other one is missing.

use super::{Carrier, Form, IdFrom, MIB, Part, Provider, SecretForm, TimeFrom, TypeFrom};
use crate::signature::{Algorithm, Encoding};

pub(super) const GITHUB: Provider = Provider {
    name: "github",
    title: "GitHub",
    // GitHub sends up to 25 MB; the rest is room for the form encoding of an odd one.
    max_body_bytes: 26 * MIB,
    default_tolerance: None,
    secret: SecretForm::Text,
    carriers: &[
        Carrier {
            signature: "x-hub-signature-256",
            form: Form::One {
                prefix: "sha256=",
                algorithm: Algorithm::HmacSha256,
                encoding: Encoding::Hex,
            },
            id: None,
            time: None,
        },
        Carrier {
            signature: "x-hub-signature",
            form: Form::One {
                prefix: "sha1=",
                algorithm: Algorithm::HmacSha1,
                encoding: Encoding::Hex,
            },
            id: None,
            time: None,
        },
    ],
    content: &[Part::Body],
    id: IdFrom::Header("x-github-delivery"),
    event_type: TypeFrom::HeaderAndBody("x-github-event", "action"),
    occurred_at: TimeFrom::Nowhere,
    form_field: Some("payload"),
};
