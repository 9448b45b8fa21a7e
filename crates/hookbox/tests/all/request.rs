//! Builds requests, and signs those for which nobody has published a signature.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use hookbox::{Event, Options, Provider, Refusal, Verifier};
use http::header::{HeaderMap, HeaderName, HeaderValue};
use sha2::Sha256;

/// Headers as the tables of these tests write them.
pub(crate) type List<'a> = &'a [(&'a str, &'a str)];

/// The secret of GitHub's documentation.
pub(crate) const GITHUB_SECRET: &str = "It's a Secret to Everybody";

/// A verifier with the default options.
pub(crate) fn verifier(provider: &str, secrets: &[&str]) -> Verifier {
    verifier_with(provider, secrets, &Options::default())
}

pub(crate) fn verifier_with(provider: &str, secrets: &[&str], options: &Options) -> Verifier {
    let secrets: Vec<String> = secrets.iter().map(|&secret| secret.to_owned()).collect();
    Provider::by_name(provider)
        .unwrap()
        .verifier(&secrets, options)
        .unwrap()
}

/// Headers, in order; a name that is there twice is sent twice.
pub(crate) fn headers(list: List<'_>) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in list {
        map.append(
            name.parse::<HeaderName>().unwrap(),
            HeaderValue::from_bytes(value.as_bytes()).unwrap(),
        );
    }
    map
}

/// `accepted`, or the refusal's code: what the tables of these tests expect.
pub(crate) fn verdict(result: &Result<Event, Refusal>) -> &'static str {
    match result {
        Ok(_) => "accepted",
        Err(refusal) => refusal.code(),
    }
}

pub(crate) fn hmac_sha256(key: &[u8], content: &[&[u8]]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    content.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

/// The event of a body that GitHub signed, with more headers if wanted.
pub(crate) fn github(body: &[u8], more: List<'_>) -> Result<Event, Refusal> {
    let tag = hmac_sha256(GITHUB_SECRET.as_bytes(), &[body]);
    let mut map = headers(more);
    map.insert(
        "x-hub-signature-256",
        format!("sha256={}", hex::encode(tag)).parse().unwrap(),
    );
    verifier("github", &[GITHUB_SECRET]).verify(&map, body, 0)
}

/// The event of a body that Stripe signed just now.
pub(crate) fn stripe(body: &[u8]) -> Result<Event, Refusal> {
    let tag = hmac_sha256(b"whsec_test_secret", &[b"1700000000.", body]);
    let signature = format!("t=1700000000,v1={}", hex::encode(tag));
    verifier("stripe", &["whsec_test_secret"]).verify(
        &headers(&[("stripe-signature", &signature)]),
        body,
        1_700_000_000,
    )
}

/// The event of a body that Shopify signed, with more headers if wanted.
pub(crate) fn shopify(body: &[u8], more: List<'_>) -> Result<Event, Refusal> {
    let mut map = headers(more);
    let tag = STANDARD.encode(hmac_sha256(b"derived-secret", &[body]));
    map.insert("x-shopify-hmac-sha256", tag.parse().unwrap());
    verifier("shopify", &["derived-secret"]).verify(&map, body, 0)
}
