//! Events as four providers sign them, written from their documentation.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::clock::unix_now;

/// The secret of the Stripe source in the tests.
pub const STRIPE_SECRET: &str = "whsec_test_stripe_0123456789abcdef";
/// The secret of the Shopify source in the tests.
pub const SHOPIFY_SECRET: &str = "shpss_test_0123456789abcdef0123456789";
/// The secret of the GitHub source in the tests.
pub const GITHUB_SECRET: &str = "It's a Secret to Everybody";
/// The secret of the Standard Webhooks source in the tests.
pub const STANDARD_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A request as a provider makes it.
#[derive(Clone, Debug)]
pub struct Signed {
    /// The provider's headers and `content-type`.
    pub headers: Vec<(String, String)>,
    /// The exact bytes.
    pub body: Vec<u8>,
}

impl Signed {
    fn new(headers: &[(&str, &str)], body: &[u8]) -> Self {
        let headers = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Self {
            headers,
            body: body.to_vec(),
        }
    }

    /// The same request with a header set to another value, or added.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same request without a header.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }
}

/// The smallest Stripe event.
#[must_use]
pub fn stripe_event(id: &str) -> Signed {
    let body = format!(
        r#"{{"id":"{id}","object":"event","type":"invoice.paid","created":{},"data":{{"object":{{"id":"in_1","object":"invoice"}}}}}}"#,
        unix_now()
    );
    stripe(STRIPE_SECRET, body.as_bytes())
}

/// Signed as Stripe does, now.
#[must_use]
pub fn stripe(secret: &str, body: &[u8]) -> Signed {
    stripe_at(secret, unix_now(), body)
}

/// Signed as Stripe does, at that time.
#[must_use]
pub fn stripe_at(secret: &str, seconds: i64, body: &[u8]) -> Signed {
    let time = seconds.to_string();
    let mac = hex::encode(hmac(secret.as_bytes(), &[time.as_bytes(), b".", body]));
    let signature = format!("t={time},v1={mac}");
    Signed::new(
        &[
            ("content-type", "application/json; charset=utf-8"),
            ("stripe-signature", &signature),
        ],
        body,
    )
}

/// Signed as Shopify does.
#[must_use]
pub fn shopify(secret: &str, event_id: &str, topic: &str, body: &[u8]) -> Signed {
    let signature = STANDARD.encode(hmac(secret.as_bytes(), &[body]));
    let delivery = format!("delivery-of-{event_id}");
    Signed::new(
        &[
            ("content-type", "application/json"),
            ("x-shopify-hmac-sha256", &signature),
            ("x-shopify-topic", topic),
            ("x-shopify-shop-domain", "shop.myshopify.com"),
            ("x-shopify-event-id", event_id),
            ("x-shopify-webhook-id", &delivery),
            ("x-shopify-api-version", "2026-10"),
        ],
        body,
    )
}

/// Signed as GitHub does.
#[must_use]
pub fn github(secret: &str, delivery: &str, event: &str, body: &[u8]) -> Signed {
    let signature = format!("sha256={}", hex::encode(hmac(secret.as_bytes(), &[body])));
    Signed::new(
        &[
            ("content-type", "application/json"),
            ("user-agent", "GitHub-Hookshot/test"),
            ("x-github-delivery", delivery),
            ("x-github-event", event),
            ("x-github-hook-id", "1"),
            ("x-hub-signature-256", &signature),
        ],
        body,
    )
}

/// Signed per Standard Webhooks, now.
#[must_use]
pub fn standard(secret: &str, id: &str, body: &[u8]) -> Signed {
    standard_at(secret, id, unix_now(), body)
}

/// Signed per Standard Webhooks, at that time.
///
/// # Panics
/// When the secret is not Base64.
#[must_use]
pub fn standard_at(secret: &str, id: &str, seconds: i64, body: &[u8]) -> Signed {
    let key = secret.strip_prefix("whsec_").unwrap_or(secret);
    let key = STANDARD.decode(key).expect("the secret is Base64");
    let time = seconds.to_string();
    let mac = hmac(&key, &[id.as_bytes(), b".", time.as_bytes(), b".", body]);
    let signature = format!("v1,{}", STANDARD.encode(mac));
    Signed::new(
        &[
            ("content-type", "application/json"),
            ("webhook-id", id),
            ("webhook-timestamp", &time),
            ("webhook-signature", &signature),
        ],
        body,
    )
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of every length");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}
