//! Standard Webhooks, and the Svix senders that write the same headers with another name.
//!
//! Source: the Standard Webhooks specification 1.0.0, and Svix's documentation, "Verifying
//! payloads". `webhook-*` comes first, because a relay that signs anew writes those and
//! passes the original `svix-*` on. The header that has the signature decides for all
//! three: an id of one family never goes with a signature of the other.

use super::{Carrier, Form, IdFrom, MIB, Part, Provider, SecretForm, TimeFrom, TypeFrom};
use crate::signature::Algorithm;

/// Versions that are not listed are skipped, as the specification asks.
const FORM: Form = Form::Versions(&[("v1", Algorithm::HmacSha256), ("v1a", Algorithm::Ed25519)]);

pub(super) const STANDARD_WEBHOOKS: Provider = Provider {
    name: "standard-webhooks",
    title: "Standard Webhooks",
    max_body_bytes: MIB,
    default_tolerance: Some(300),
    secret: SecretForm::StandardWebhooks,
    carriers: &[
        Carrier {
            signature: "webhook-signature",
            form: FORM,
            id: Some("webhook-id"),
            time: Some("webhook-timestamp"),
        },
        Carrier {
            signature: "svix-signature",
            form: FORM,
            id: Some("svix-id"),
            time: Some("svix-timestamp"),
        },
    ],
    content: &[
        Part::Id,
        Part::Text("."),
        Part::Time,
        Part::Text("."),
        Part::Body,
    ],
    id: IdFrom::Carrier,
    event_type: TypeFrom::Body("type"),
    // The header's time is that of the attempt.
    occurred_at: TimeFrom::Body("timestamp"),
    form_field: None,
};
