//! GitHub: what the headers and the body of a genuine request say.

use hookbox::IdOrigin;

use crate::request::{List, github, verdict};

#[test]
fn the_id_is_the_delivery() {
    let body = br#"{"action":"opened","id":"not this one"}"#;
    let event = github(
        body,
        &[("x-github-delivery", "d-1"), ("x-github-event", "issues")],
    );
    let event = event.unwrap();
    assert_eq!(
        (event.id.as_str(), event.id_origin),
        ("d-1", IdOrigin::Unsigned)
    );
    assert_eq!(event.event_type, "issues.opened");
    assert_eq!(event.occurred_at_ms, None);
    // The same body under another id shows by its digest.
    let again = github(body, &[("x-github-delivery", "d-2")]).unwrap();
    assert_ne!(again.id, event.id);
    assert_eq!(again.body_sha256, event.body_sha256);
}

#[test]
fn without_a_delivery_the_content_is_the_id() {
    for list in [&[][..], &[("x-github-delivery", "")]] {
        let event = github(b"hello", list).unwrap();
        assert_eq!(
            event.id,
            "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        );
        assert_eq!(event.id_origin, IdOrigin::Content);
        assert_eq!(hex::encode(event.body_sha256), event.id["sha256:".len()..]);
    }
}

#[test]
fn the_type_is_the_header_and_the_action() {
    const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
    let long = format!(r#"{{"action":"{}"}}"#, "a".repeat(256));
    let cases: &[(&[u8], List<'_>, &str)] = &[
        (
            br#"{"action":"opened"}"#,
            &[("x-github-event", "issues")],
            "issues.opened",
        ),
        (br#"{"ref":"x"}"#, &[("x-github-event", "push")], "push"),
        (br#"{"action":7}"#, &[("x-github-event", "push")], "push"),
        (br#"{"action":""}"#, &[("x-github-event", "push")], "push"),
        (br#"{"action":null}"#, &[("x-github-event", "push")], "push"),
        (
            br#"{"action":"a\u0000b"}"#,
            &[("x-github-event", "push")],
            "push",
        ),
        (
            br#"{"action":"a","action":"b"}"#,
            &[("x-github-event", "push")],
            "push",
        ),
        (
            br#"{"inner":{"action":"a"}}"#,
            &[("x-github-event", "push")],
            "push",
        ),
        (
            br#"[{"action":"a"}]"#,
            &[("x-github-event", "push")],
            "push",
        ),
        (
            br#"{"action":"a"} {}"#,
            &[("x-github-event", "push")],
            "push",
        ),
        (
            b"\xef\xbb\xbf{\"action\":\"a\"}",
            &[("x-github-event", "push")],
            "push",
        ),
        (b"not JSON", &[("x-github-event", "push")], "push"),
        (b"", &[("x-github-event", "push")], "push"),
        (long.as_bytes(), &[("x-github-event", "push")], "push"),
        (br#"{"action":"opened"}"#, &[], "unknown"),
        (
            b"payload=%7B%22action%22%3A%22opened%22%7D",
            &[FORM, ("x-github-event", "issues")],
            "issues.opened",
        ),
        (
            b"a=1&payload=%7B%22action%22%3A%22opened%22%7D",
            &[
                (
                    "content-type",
                    "Application/X-WWW-Form-URLEncoded; charset=utf-8",
                ),
                ("x-github-event", "issues"),
            ],
            "issues.opened",
        ),
        (
            b"payload=%7B%22action%22%3A%22a%22%7D",
            &[("x-github-event", "issues")],
            "issues",
        ),
        (
            b"payload=%GG",
            &[FORM, ("x-github-event", "issues")],
            "issues",
        ),
        (b"other=1", &[FORM, ("x-github-event", "issues")], "issues"),
        (
            b"payload=%7B%22action%22%3A%22a%22%7D&payload=%7B%22action%22%3A%22b%22%7D",
            &[FORM, ("x-github-event", "issues")],
            "issues",
        ),
    ];
    for (body, list, expected) in cases {
        let event = github(body, list).unwrap();
        assert_eq!(
            event.event_type,
            *expected,
            "{}",
            String::from_utf8_lossy(body)
        );
    }
}

#[test]
fn describing_headers_are_there_once_and_plain_or_not_at_all() {
    let long_id = "i".repeat(1025);
    let long_type = "t".repeat(257);
    let cases: &[(List<'_>, &str)] = &[
        (&[("x-github-delivery", &long_id[..1024])], "accepted"),
        (&[("x-github-delivery", &long_id)], "id_too_long"),
        (&[("x-github-delivery", "é")], "id_malformed"),
        (&[("x-github-delivery", "a\tb")], "id_malformed"),
        (
            &[("x-github-delivery", "a"), ("x-github-delivery", "a")],
            "duplicate_header",
        ),
        (&[("x-github-event", &long_type[..256])], "accepted"),
        (&[("x-github-event", &long_type)], "header_malformed"),
        (&[("x-github-event", "pùsh")], "header_malformed"),
        (
            &[("x-github-event", "a"), ("x-github-event", "b")],
            "duplicate_header",
        ),
        (
            &[("content-type", "a/b"), ("content-type", "c/d")],
            "duplicate_header",
        ),
    ];
    for (list, expected) in cases {
        assert_eq!(verdict(&github(b"{}", list)), *expected, "{list:.200?}");
    }
}
