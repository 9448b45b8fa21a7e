//! Shopify.
//!
//! Source: Shopify's developer documentation, "Verify webhooks" and "Ignore duplicate
//! webhooks". Only the body is signed. `X-Shopify-Event-Id` is the same on every webhook
//! of one event, but topics of several kinds may share it, so the key of an event is the
//! shop, the topic and that id; where the header is missing, `X-Shopify-Webhook-Id`, which
//! names the delivery, stands in for it.

use super::{Carrier, Form, IdFrom, MIB, Part, Provider, SecretForm, TimeFrom, TypeFrom};
use crate::signature::{Algorithm, Encoding};

pub(super) const SHOPIFY: Provider = Provider {
    name: "shopify",
    title: "Shopify",
    max_body_bytes: MIB,
    default_tolerance: None,
    secret: SecretForm::Text,
    carriers: &[Carrier {
        signature: "x-shopify-hmac-sha256",
        form: Form::One {
            prefix: "",
            algorithm: Algorithm::HmacSha256,
            encoding: Encoding::Base64,
        },
        id: None,
        time: None,
    }],
    content: &[Part::Body],
    id: IdFrom::Scoped {
        scope: &["x-shopify-shop-domain", "x-shopify-topic"],
        ids: &[
            ("event", "x-shopify-event-id"),
            ("webhook", "x-shopify-webhook-id"),
        ],
    },
    event_type: TypeFrom::Header("x-shopify-topic"),
    occurred_at: TimeFrom::Header("x-shopify-triggered-at"),
    form_field: None,
};
