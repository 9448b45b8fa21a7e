//! Stripe.
//!
//! Source: Stripe's documentation, "Receive Stripe events in your webhook endpoint" and
//! the signature section there. The header is `t=…,v1=…`, with one `v1` for each secret
//! that is active; `v0` exists for tests and proves nothing. The key is the whole
//! `whsec_…` text: it looks like a Standard Webhooks secret and is not decoded like one.

use super::{Carrier, Form, IdFrom, MIB, Part, Provider, SecretForm, TimeFrom, TypeFrom};
use crate::signature::{Algorithm, Encoding};

pub(super) const STRIPE: Provider = Provider {
    name: "stripe",
    title: "Stripe",
    max_body_bytes: MIB,
    default_tolerance: Some(300),
    secret: SecretForm::Text,
    carriers: &[Carrier {
        signature: "stripe-signature",
        form: Form::Fields {
            separator: ',',
            time: "t",
            signature: "v1",
            algorithm: Algorithm::HmacSha256,
            encoding: Encoding::Hex,
        },
        id: None,
        time: None,
    }],
    content: &[Part::Time, Part::Text("."), Part::Body],
    id: IdFrom::Body("id"),
    event_type: TypeFrom::Body("type"),
    // The event's own time; the object inside has a `created` too, which never changes.
    occurred_at: TimeFrom::BodySeconds("created"),
    form_field: None,
};
