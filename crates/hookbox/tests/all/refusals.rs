//! What refusals say, and what they do not.

use std::collections::HashSet;

use hookbox::{ConfigError, Refusal, SecretError};

#[test]
fn every_refusal_has_a_code_of_its_own_and_says_what_to_do() {
    let header = "x-signature";
    let cases = [
        (Refusal::SignatureMissing { header }, "signature_missing"),
        (
            Refusal::SignatureMalformed { header },
            "signature_malformed",
        ),
        (Refusal::SignatureScheme { header }, "signature_scheme"),
        (Refusal::SignatureMismatch { header }, "signature_mismatch"),
        (Refusal::TimestampMissing { header }, "timestamp_missing"),
        (
            Refusal::TimestampMalformed { header },
            "timestamp_malformed",
        ),
        (
            Refusal::TimestampTooOld {
                seconds: 301,
                tolerance: 300,
            },
            "timestamp_too_old",
        ),
        (
            Refusal::TimestampInFuture {
                seconds: 301,
                tolerance: 300,
            },
            "timestamp_in_future",
        ),
        (Refusal::IdMissing { header }, "id_missing"),
        (Refusal::IdMalformed { header }, "id_malformed"),
        (Refusal::IdTooLong { header, max: 1024 }, "id_too_long"),
        (Refusal::DuplicateHeader { header }, "duplicate_header"),
        (Refusal::HeaderMalformed { header }, "header_malformed"),
    ];
    let mut texts = HashSet::new();
    for (refusal, code) in cases {
        let text = refusal.to_string();
        assert_eq!(refusal.code(), code);
        assert!(text.contains(header) || text.contains("301 s"), "{text}");
        assert!(text.contains("; ") && !text.contains("  "), "{text}");
        assert!(texts.insert(text));
    }
}

#[test]
fn a_bad_secret_is_named_by_its_number_alone() {
    let error = ConfigError::Secret {
        index: 1,
        source: SecretError::Whitespace,
    };
    let text = error.to_string();
    assert!(text.starts_with("secret number 2 is unusable: "), "{text}");
}

#[test]
fn no_text_repeats_what_was_sent() {
    let secrets = ["sekrit-sekrit-sekrit".to_owned()];
    let provider = hookbox::Provider::by_name("stripe").unwrap();
    let verifier = provider
        .verifier(&secrets, &hookbox::Options::default())
        .unwrap();
    for value in [
        "gossip",
        "t=gossip,v1=",
        "t=17,v1=gossip",
        &format!("t=17,v1={}", "a".repeat(64)),
    ] {
        let map = crate::request::headers(&[("stripe-signature", value)]);
        let refusal = verifier.verify(&map, b"payload-payload", 17).unwrap_err();
        let text = format!("{refusal} {refusal:?}");
        for word in ["sekrit", "gossip", "payload-payload", "aaaa"] {
            assert!(!text.contains(word), "{text}");
        }
    }
}
