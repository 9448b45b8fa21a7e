//! What can be configured, and what is refused before any request comes.

use hookbox::{ConfigError, Options, Provider, SecretError};

fn configure(provider: &str, secrets: &[&str], options: &Options) -> Option<ConfigError> {
    let secrets: Vec<String> = secrets.iter().map(|&secret| secret.to_owned()).collect();
    Provider::by_name(provider)
        .unwrap()
        .verifier(&secrets, options)
        .err()
}

#[test]
fn the_providers() {
    let expected = [
        ("stripe", "Stripe", 1 << 20, Some(300)),
        ("shopify", "Shopify", 1 << 20, None),
        ("github", "GitHub", 26 << 20, None),
        ("standard-webhooks", "Standard Webhooks", 1 << 20, Some(300)),
    ];
    let found: Vec<_> = Provider::all()
        .iter()
        .map(|p| {
            (
                p.name(),
                p.title(),
                p.max_body_bytes(),
                p.default_tolerance(),
            )
        })
        .collect();
    assert_eq!(found, expected);
    for (name, ..) in expected {
        assert_eq!(Provider::by_name(name).unwrap().name(), name);
    }
    for name in ["", "Stripe", "stripe ", "strype", "none"] {
        assert!(Provider::by_name(name).is_none(), "{name:?}");
    }
}

#[test]
fn secrets() {
    let secret = |index, source| Some(ConfigError::Secret { index, source });
    let cases: &[(&str, &[&str], Option<ConfigError>)] = &[
        ("stripe", &["whsec_test_secret"], None),
        ("github", &["short"], None),
        ("github", &["with a space inside"], None),
        ("stripe", &[], Some(ConfigError::NoSecret)),
        ("stripe", &[""], secret(0, SecretError::Empty)),
        ("stripe", &["a", " "], secret(1, SecretError::Empty)),
        (
            "stripe",
            &["whsec_test_secret\n"],
            secret(0, SecretError::Whitespace),
        ),
        ("github", &["a", "\tb"], secret(1, SecretError::Whitespace)),
        ("shopify", &["a\u{a0}"], secret(0, SecretError::Whitespace)),
        (
            "standard-webhooks",
            &["whsec_!!!!"],
            secret(0, SecretError::NotBase64),
        ),
        (
            "standard-webhooks",
            &["whsec_"],
            secret(0, SecretError::Empty),
        ),
        (
            "standard-webhooks",
            &["whsec_test_secret"],
            secret(0, SecretError::NotBase64),
        ),
        (
            "standard-webhooks",
            &["whpk_AAAA"],
            secret(
                0,
                SecretError::Length {
                    actual: 3,
                    expected: "32",
                },
            ),
        ),
        ("stripe", &["a"; 16], None),
        (
            "stripe",
            &["a"; 17],
            Some(ConfigError::TooManySecrets { count: 17, max: 16 }),
        ),
    ];
    for (provider, secrets, expected) in cases {
        let result = configure(provider, secrets, &Options::default());
        assert_eq!(result, *expected, "{provider} {secrets:?}");
    }
}

#[test]
fn options_that_would_do_nothing() {
    let tolerance = Options {
        tolerance_seconds: Some(60),
        ..Options::default()
    };
    let sha1 = Options {
        allow_sha1: true,
        ..Options::default()
    };
    let standard = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let no_time = |provider| Some(ConfigError::ToleranceUnsupported { provider });
    let no_sha1 = |provider| Some(ConfigError::Sha1Unsupported { provider });
    let cases: &[(&str, &str, Option<ConfigError>, Option<ConfigError>)] = &[
        ("stripe", "a", None, no_sha1("stripe")),
        ("shopify", "a", no_time("shopify"), no_sha1("shopify")),
        ("github", "a", no_time("github"), None),
        (
            "standard-webhooks",
            standard,
            None,
            no_sha1("standard-webhooks"),
        ),
    ];
    for (provider, secret, with_tolerance, with_sha1) in cases {
        assert_eq!(configure(provider, &[secret], &tolerance), *with_tolerance);
        assert_eq!(configure(provider, &[secret], &sha1), *with_sha1);
    }
}

#[test]
fn debug_shows_no_secret() {
    let secrets = ["hunter2-hunter2".to_owned()];
    let verifier = Provider::by_name("github")
        .unwrap()
        .verifier(&secrets, &Options::default())
        .unwrap();
    let shown = format!("{verifier:?}");
    assert!(
        !shown.contains("hunter2") && shown.contains("redacted"),
        "{shown}"
    );
    assert_eq!(verifier.provider().name(), "github");
}
