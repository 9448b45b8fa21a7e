//! Standard Webhooks, received: the three headers, in both families.

use hookbox::{Event, Refusal};

use crate::request::{List, verdict};
use crate::standard_webhooks::{BODY, GOOD, GOOD_ED25519, ID, NOW, PUBLIC, SECRET, TIME, verify};

fn signed(secret: &str, signature: &str) -> Result<Event, Refusal> {
    let list = [
        ("webhook-id", ID),
        ("webhook-timestamp", TIME),
        ("webhook-signature", signature),
    ];
    verify(&[secret], &list, BODY, NOW)
}

#[test]
fn the_signature_header() {
    let wrong = "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=";
    let list = |count: usize| vec![wrong; count].join(" ");
    let cases: &[(&str, &str, String)] = &[
        (SECRET, "accepted", GOOD.to_owned()),
        (
            SECRET,
            "accepted",
            format!(
                "{wrong} {} v1a,c29tZXRoaW5n {GOOD}",
                wrong.replace("v1", "v2")
            ),
        ),
        (SECRET, "accepted", format!("{GOOD} {wrong}")),
        (SECRET, "accepted", format!("{wrong}  {GOOD}")),
        (SECRET, "accepted", format!("{} {GOOD}", list(15))),
        (SECRET, "accepted", format!("{GOOD_ED25519} {GOOD}")),
        (PUBLIC, "accepted", format!("{GOOD} {GOOD_ED25519}")),
        (
            SECRET,
            "signature_malformed",
            format!("{} {GOOD}", list(16)),
        ),
        (
            SECRET,
            "signature_malformed",
            format!("{GOOD} {}", "v9,x ".repeat(16).trim_end()),
        ),
        (SECRET, "signature_malformed", "v1,".to_owned()),
        (SECRET, "signature_malformed", GOOD[..11].to_owned()),
        (SECRET, "signature_malformed", GOOD.replace("OE=", "OF=")),
        (
            SECRET,
            "signature_malformed",
            GOOD.trim_end_matches('=').to_owned(),
        ),
        (SECRET, "signature_malformed", GOOD.replace(',', ", ")),
        (SECRET, "signature_malformed", GOOD.replace("v1,", "")),
        (SECRET, "signature_malformed", String::new()),
        (SECRET, "signature_malformed", "bad_header".to_owned()),
        (SECRET, "signature_malformed", "a".repeat(65536)),
        (SECRET, "signature_mismatch", GOOD.replace("1OE=", "1OA=")),
        (SECRET, "signature_mismatch", wrong.to_owned()),
        (SECRET, "signature_scheme", GOOD.replace("v1", "v2")),
        (SECRET, "signature_scheme", GOOD.replace("v1", "V1")),
        (SECRET, "signature_scheme", GOOD_ED25519.to_owned()),
        (PUBLIC, "signature_scheme", GOOD.to_owned()),
        // Made with the text of the secret as the key, instead of what it decodes to.
        (
            SECRET,
            "signature_mismatch",
            "v1,TcxlhK9b6UD6iVI1ZU2tTqp8PEVfYRseNNfa6b+LcUg=".to_owned(),
        ),
    ];
    for (secret, expected, signature) in cases {
        let result = signed(secret, signature);
        assert_eq!(verdict(&result), *expected, "{signature:.150}");
    }
}

#[test]
fn both_families_and_no_mixture() {
    const W: [(&str, &str); 3] = [
        ("webhook-id", ID),
        ("webhook-timestamp", TIME),
        ("webhook-signature", GOOD),
    ];
    const S: [(&str, &str); 3] = [
        ("svix-id", ID),
        ("svix-timestamp", TIME),
        ("svix-signature", GOOD),
    ];
    let bad = "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=";
    let cases: &[(List<'_>, &str)] = &[
        (&W, "accepted"),
        (&S, "accepted"),
        (&[W[0], W[1], W[2], S[0], S[1], S[2]], "accepted"),
        (
            &[W[0], W[1], W[2], ("svix-id", "x"), ("svix-signature", bad)],
            "accepted",
        ),
        (
            &[W[0], W[1], ("webhook-signature", bad), S[0], S[1], S[2]],
            "signature_mismatch",
        ),
        (&[S[0], W[1], W[2]], "id_missing"),
        (&[W[0], S[1], W[2]], "timestamp_missing"),
        (&[W[0], W[1], S[2]], "timestamp_missing"),
        (&[W[0], S[1], S[2]], "id_missing"),
        (&[W[0], W[1]], "signature_missing"),
        (&[W[1], W[2]], "id_missing"),
        (&[W[0], W[2]], "timestamp_missing"),
        (&[("webhook-id", ""), W[1], W[2]], "id_missing"),
        (&[W[0], W[0], W[1], W[2]], "duplicate_header"),
        (&[W[0], W[1], W[1], W[2]], "duplicate_header"),
        (&[W[0], W[1], W[2], W[2]], "duplicate_header"),
        (&[S[0], S[1], S[2], S[2]], "duplicate_header"),
    ];
    for (list, expected) in cases {
        assert_eq!(
            verdict(&verify(&[SECRET], list, BODY, NOW)),
            *expected,
            "{list:?}"
        );
    }
}

#[test]
fn timestamps() {
    let cases: &[(&str, i64, &str)] = &[
        (TIME, 0, "accepted"),
        (TIME, 300, "accepted"),
        (TIME, 301, "timestamp_too_old"),
        (TIME, -300, "accepted"),
        (TIME, -301, "timestamp_in_future"),
        ("", 0, "timestamp_malformed"),
        ("hello", 0, "timestamp_malformed"),
        ("+1614265330", 0, "timestamp_malformed"),
        ("-1614265330", 0, "timestamp_malformed"),
        ("1614265330.0", 0, "timestamp_malformed"),
        ("1614265330 ", 0, "timestamp_malformed"),
        ("99999999999999999999", 0, "timestamp_malformed"),
        ("01614265330", 0, "signature_mismatch"),
    ];
    for (time, later, expected) in cases {
        let list = [
            ("webhook-id", ID),
            ("webhook-timestamp", *time),
            ("webhook-signature", GOOD),
        ];
        let result = verify(&[SECRET], &list, BODY, NOW + later);
        assert_eq!(verdict(&result), *expected, "{time:?} {later}");
    }
}
