//! Stripe: published inputs, rotation, and the forms of the header.

use hookbox::{Event, IdOrigin, Options, Refusal};

use crate::request::{headers, stripe, verdict, verifier, verifier_with};

const SECRET: &str = "whsec_test_secret";
const NOW: i64 = 1_700_000_000;
/// The body of stripe-node's tests, as it is written there: 51 bytes.
const PRETTY: &[u8] = b"{\n  \"id\": \"evt_test_webhook\",\n  \"object\": \"event\"\n}";
const GOOD: &str = "4f1cd7feda9826e746b7d482c4badebb657398df1099e1046364f6196a230150";

fn verify(secrets: &[&str], signature: &str, body: &[u8], now: i64) -> Result<Event, Refusal> {
    verifier("stripe", secrets).verify(&headers(&[("Stripe-Signature", signature)]), body, now)
}

#[test]
fn the_body_counts_as_it_came() {
    assert_eq!(PRETTY.len(), 51);
    let compact = br#"{"id":"evt_test_webhook","object":"event"}"#;
    let good = format!("t=1700000000,v1={GOOD}");
    let event = verify(&[SECRET], &good, PRETTY, NOW).unwrap();
    assert_eq!(event.id, "evt_test_webhook");
    assert_eq!(event.id_origin, IdOrigin::Signed);
    assert_eq!(event.event_type, "unknown");
    assert_eq!(
        verdict(&verify(&[SECRET], &good, compact, NOW)),
        "signature_mismatch"
    );
    let own = "t=1700000000,\
               v1=d95c6b7477fbd7e9f90b1b0ef5f9c7ac25abca5382460e0d988c2b2a5b71b990";
    assert_eq!(verdict(&verify(&[SECRET], own, compact, NOW)), "accepted");
}

#[test]
fn the_header() {
    let b64 = "b".repeat(64);
    let many = |count: usize| vec![format!("v1={b64}"); count].join(",");
    let cases: &[(&str, String)] = &[
        ("accepted", format!("t=1700000000,v1={GOOD}")),
        ("accepted", format!("v1={GOOD},t=1700000000")),
        ("accepted", format!("t=1700000000, v1={GOOD}")),
        (
            "accepted",
            format!("t=1700000000,v1={b64},v1={GOOD},v0={b64}"),
        ),
        ("accepted", format!("t=1700000000,v1=short,v1={GOOD}")),
        ("accepted", format!("t=1700000000,{},v1={GOOD}", many(15))),
        (
            "signature_malformed",
            format!("t=1700000000,{},v1={GOOD}", many(16)),
        ),
        ("signature_mismatch", format!("t=1700000001,v1={GOOD}")),
        ("signature_scheme", format!("t=1700000000,v0={GOOD}")),
        ("signature_scheme", "t=1700000000".to_owned()),
        ("signature_malformed", "t=1700000000,v1=".to_owned()),
        (
            "signature_malformed",
            format!("t=1700000000,v1={}", &GOOD[..62]),
        ),
        ("signature_malformed", format!("t=1700000000,v1={GOOD}00")),
        (
            "signature_malformed",
            format!("t=1700000000,v1=0x{}", &GOOD[2..]),
        ),
        (
            "signature_malformed",
            format!("t=1700000000,v1={}", GOOD.to_uppercase()),
        ),
        ("signature_malformed", String::new()),
        ("signature_malformed", "bad_header".to_owned()),
        ("signature_malformed", "x".repeat(65536)),
        ("timestamp_missing", format!("v1={GOOD}")),
        ("timestamp_malformed", format!("t=,v1={GOOD}")),
        ("timestamp_malformed", format!("t=+1700000000,v1={GOOD}")),
        ("timestamp_malformed", format!("t=-1700000000,v1={GOOD}")),
        ("timestamp_malformed", format!("t=1700000000.0,v1={GOOD}")),
        ("timestamp_malformed", format!("t=1e9,v1={GOOD}")),
        (
            "timestamp_malformed",
            format!("t=99999999999999999999,v1={GOOD}"),
        ),
        (
            "timestamp_malformed",
            format!("t=1700000000,t=1700000000,v1={GOOD}"),
        ),
    ];
    for (expected, header) in cases {
        let result = verify(&[SECRET], header, PRETTY, NOW);
        assert_eq!(verdict(&result), *expected, "{header:.120}");
    }
}

#[test]
fn the_header_has_to_be_there_once() {
    let verifier = verifier("stripe", &[SECRET]);
    let good = format!("t=1700000000,v1={GOOD}");
    let none = headers(&[]);
    assert_eq!(
        verdict(&verifier.verify(&none, PRETTY, NOW)),
        "signature_missing"
    );
    let twice = headers(&[("stripe-signature", &good), ("Stripe-Signature", &good)]);
    assert_eq!(
        verdict(&verifier.verify(&twice, PRETTY, NOW)),
        "duplicate_header"
    );
    let latin = headers(&[("stripe-signature", &format!("{good},é=1"))]);
    assert_eq!(
        verdict(&verifier.verify(&latin, PRETTY, NOW)),
        "signature_malformed"
    );
}

#[test]
fn rotation_accepts_either_secret_and_says_which() {
    const OLD: &str = "whsec_test_primary_32_byte_key_material";
    const NEW: &str = "whsec_test_rotation_32_byte_key_material";
    const OLD_V1: &str = "4baa0848f825cb0ac3bb399a74627fed469f817c39cce6dc8c379ee6bbe24675";
    const NEW_V1: &str = "057fa4b1965bdd9651e016d75b9d59ef33f8309cfb57427836eb0c1963a14103";
    let body = br#"{"id":"evt_1","ok":true}"#;
    let cases: &[(&[&str], &[&str], Option<usize>)] = &[
        (&[OLD], &[OLD_V1], Some(0)),
        (&[NEW], &[NEW_V1], Some(0)),
        (&[OLD, NEW], &[OLD_V1], Some(0)),
        (&[OLD, NEW], &[NEW_V1], Some(1)),
        (&[NEW, OLD], &[OLD_V1], Some(1)),
        (&[NEW], &[OLD_V1, NEW_V1], Some(0)),
        (&[OLD], &[NEW_V1, OLD_V1], Some(0)),
        (&[OLD], &[NEW_V1], None),
        (&[NEW], &[OLD_V1], None),
    ];
    for (secrets, signatures, expected) in cases {
        let header = format!("t=1700000000,v1={}", signatures.join(",v1="));
        let result = verify(secrets, &header, body, NOW);
        assert_eq!(
            result.ok().map(|event| event.secret_index),
            *expected,
            "{header}"
        );
    }
}

#[test]
fn a_new_secret_may_stand_second_in_the_header() {
    let header = format!(
        "t=1700000000,v1={},v1=92764b9cbd560ae71a72d528ec0e82123939d12510805786506550c8be18261c,\
         v0={}",
        "a".repeat(64),
        "b".repeat(64),
    );
    assert_eq!(
        verdict(&verify(&["whsec_new"], &header, PRETTY, NOW)),
        "accepted"
    );
    assert_eq!(
        verdict(&verify(&[SECRET], &header, PRETTY, NOW)),
        "signature_mismatch"
    );
}

#[test]
fn time_is_tolerated_in_both_directions_and_inclusively() {
    let header = format!("t=1700000000,v1={GOOD}");
    let narrow = Options {
        tolerance_seconds: Some(0),
        ..Options::default()
    };
    let wide = Options {
        tolerance_seconds: Some(3600),
        ..Options::default()
    };
    let cases: &[(&Options, i64, &str)] = &[
        (&Options::default(), 0, "accepted"),
        (&Options::default(), 300, "accepted"),
        (&Options::default(), 301, "timestamp_too_old"),
        (&Options::default(), -300, "accepted"),
        (&Options::default(), -301, "timestamp_in_future"),
        (&narrow, 0, "accepted"),
        (&narrow, 1, "timestamp_too_old"),
        (&narrow, -1, "timestamp_in_future"),
        (&wide, 3600, "accepted"),
        (&wide, 3601, "timestamp_too_old"),
    ];
    for (options, later, expected) in cases {
        let result = verifier_with("stripe", &[SECRET], options).verify(
            &headers(&[("stripe-signature", &header)]),
            PRETTY,
            NOW + later,
        );
        assert_eq!(verdict(&result), *expected, "{options:?} {later}");
    }
    for now in [i64::MIN, i64::MAX] {
        assert!(verify(&[SECRET], &header, PRETTY, now).is_err());
    }
}

#[test]
fn a_stale_forgery_is_a_forgery() {
    let header = format!("t=1600000000,v1={GOOD}");
    assert_eq!(
        verdict(&verify(&[SECRET], &header, PRETTY, NOW)),
        "signature_mismatch"
    );
}

#[test]
fn milliseconds_are_no_seconds() {
    let header = "t=1700000000000,\
                  v1=1d1ecb3f6e7827d52ed3209bb16accbe57cab9003c7b045edd5e9cb1b3078c1b";
    let refusal = verify(&[SECRET], header, PRETTY, NOW).unwrap_err();
    assert_eq!(refusal.code(), "timestamp_in_future");
    assert!(refusal.to_string().contains("milliseconds"), "{refusal}");
}

#[test]
fn a_thin_event_is_an_event() {
    let body = br#"{"id":"evt_test_webhook","object":"v2.core.event"}"#;
    let header = "t=1700000000,\
                  v1=c55b32a3b39f5959eacdb0abd9c2bfe761ae9550517ecd83463b74870c223200";
    assert_eq!(
        verify(&[SECRET], header, body, NOW).unwrap().id,
        "evt_test_webhook"
    );
}

#[test]
fn what_the_body_says() {
    let event = stripe(
        br#"{"id":"evt_1","type":"invoice.paid","created":1700000000,
             "data":{"object":{"id":"in_1","created":1600000000,"type":"x"}}}"#,
    )
    .unwrap();
    assert_eq!(event.id, "evt_1");
    assert_eq!(event.event_type, "invoice.paid");
    assert_eq!(event.occurred_at_ms, Some(1_700_000_000_000));
}

#[test]
fn ids_that_differ_in_case_or_space_are_different() {
    for id in ["evt_Ab", "evt_aB", "evt_1", "evt_1 "] {
        let body = format!(r#"{{"id":"{id}"}}"#);
        assert_eq!(stripe(body.as_bytes()).unwrap().id, id);
    }
}

#[test]
fn a_header_that_is_not_read_may_be_anything() {
    let good = format!("t=1700000000,v1={GOOD}");
    let map = headers(&[
        ("stripe-signature", &good),
        ("content-type", "a"),
        ("content-type", "b"),
        ("webhook-id", "é"),
        ("webhook-id", ""),
    ]);
    assert!(
        verifier("stripe", &[SECRET])
            .verify(&map, PRETTY, NOW)
            .is_ok()
    );
}

#[test]
fn no_header_chooses_the_secret() {
    let tag = crate::request::hmac_sha256(b"attacker", &[b"1700000000.", PRETTY]);
    let map = headers(&[
        (
            "stripe-signature",
            &format!("t=1700000000,v1={}", hex::encode(tag)),
        ),
        ("x-djstripe-webhook-secret", "attacker"),
    ]);
    let result = verifier("stripe", &[SECRET]).verify(&map, PRETTY, NOW);
    assert_eq!(verdict(&result), "signature_mismatch");
}
