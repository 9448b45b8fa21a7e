//! GitHub: published vectors, reported bugs, the legacy header and the form body.

use hookbox::{IdOrigin, Options};

use crate::request::{GITHUB_SECRET, github, headers, verdict, verifier, verifier_with};

const HELLO: &str = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
const HELLO_SHA1: &str = "sha1=01dc10d0c83e72ed246219cdd91669667fe2ca59";

#[test]
fn bodies_with_known_signatures() {
    let cases: &[(&[u8], &str)] = &[
        (b"Hello, World!", HELLO),
        (
            b"{\n  \"a\": 2\n}",
            "c5c6ffa182274bb0c65dfe4fe0789adea9a0c557478c82e6cf3deada65b43ca2",
        ),
        (
            br#"{"a":2}"#,
            "ddefd1a4f3ffa7d2f1352361c7c4ec8b1e2febe95829c5d8eed73df1e74c8534",
        ),
        (
            b"{\"body\":\"\xf0\x9f\x98\x8a\"}",
            "0886863801b7fce60a3221f4bd0ee682648fe2a05450dfbd1a6da247cf322851",
        ),
        (
            br#"{"t":"\u00e9"}"#,
            "571db11a7563aecdbbe3b8b317f995a1d84489d5cfbcdee8005d5c2878e257f1",
        ),
        (
            b"\xe2",
            "568a489cde49a6471398bf07b4d81851f6596b6e6e8065a54cd2089e1b161bde",
        ),
        (
            b"\xef\xbb\xbfHello, World!",
            "80ee6e59c2c455a62ca908d9fca9167a761193b44e028fa717a67a15f68a8f0d",
        ),
        (
            br#"{"amount":10.00}"#,
            "c5673ef08f2180366187b64be1cd31e0b31368fd2c8c5e77fa239889dab76126",
        ),
        (
            br#"{"id":9007199254740993}"#,
            "de6dc952f62cf7452a478c10f35b3ff12e600f59eed4d7850d74c87fcd55df38",
        ),
        (
            br#"{"id":"evt_a","id":"evt_b"}"#,
            "a22b2cd35a8eab59f4bc5d0ab0bafdd36db43a47a7a5530f9df92b7759bdbb4e",
        ),
        (
            b"hello",
            "d8be890af13c40de78b7533ebfe56f4e9f16b4fde7eefa850c7cdb6360aecb6b",
        ),
        (
            b"",
            "66a0c074deaa0f489ead6537e0d32f9a344b90bbeda705b6ed45ecd3b413fb40",
        ),
        (
            b"payload=%7B%22zen%22%3A%22Design+for+failure.%22%7D",
            "204d797ad96e6bd9be987b4c99a10c252648a20d64bdf6ce12cc0687e3e29ce9",
        ),
    ];
    let verifier = verifier("github", &[GITHUB_SECRET]);
    for (at, (_, signature)) in cases.iter().enumerate() {
        let map = headers(&[("X-Hub-Signature-256", &format!("sha256={signature}"))]);
        for (other, (body, _)) in cases.iter().enumerate() {
            let expected = if at == other {
                "accepted"
            } else {
                "signature_mismatch"
            };
            let result = verifier.verify(&map, body, 0);
            assert_eq!(
                verdict(&result),
                expected,
                "body {other} with signature {at}"
            );
        }
    }
}

#[test]
fn a_vector_with_another_secret() {
    let signature = "sha256=d7a154547e7c35e31c4c820e20237650939c3d34dae136e30a7757ca61abb4cf";
    let map = headers(&[("x-hub-signature-256", signature)]);
    let body = b"Test Payload Body";
    assert_eq!(
        verdict(&verifier("github", &["Convoy"]).verify(&map, body, 0)),
        "accepted"
    );
    let result = verifier("github", &["convoy"]).verify(&map, body, 0);
    assert_eq!(verdict(&result), "signature_mismatch");
}

#[test]
fn the_header() {
    let cases: &[(&str, String)] = &[
        ("accepted", format!("sha256={HELLO}")),
        ("signature_malformed", format!("sha256= {HELLO}")),
        (
            "signature_malformed",
            "sha256=dXEH6g6yUJ/CESIczphLijdXC211hsIsRvQ3nIsEPhc=".to_owned(),
        ),
        ("signature_malformed", HELLO.to_owned()),
        ("signature_malformed", format!("SHA256={HELLO}")),
        ("signature_malformed", format!("sha512={HELLO}")),
        ("signature_malformed", HELLO_SHA1.to_owned()),
        (
            "signature_malformed",
            format!("sha256={}", HELLO.to_uppercase()),
        ),
        (
            "signature_malformed",
            format!("sha256={HELLO},sha256={HELLO}"),
        ),
        ("signature_malformed", "sha256=".to_owned()),
        ("signature_malformed", String::new()),
        ("signature_malformed", "0".repeat(65536)),
        ("signature_mismatch", format!("sha256={}", "0".repeat(64))),
    ];
    let verifier = verifier("github", &[GITHUB_SECRET]);
    for (expected, header) in cases {
        let map = headers(&[("x-hub-signature-256", header)]);
        let result = verifier.verify(&map, b"Hello, World!", 0);
        assert_eq!(verdict(&result), *expected, "{header:.100}");
    }
    let good = format!("sha256={HELLO}");
    let twice = headers(&[
        ("x-hub-signature-256", &good),
        ("x-hub-signature-256", "sha256=0"),
    ]);
    assert_eq!(
        verdict(&verifier.verify(&twice, b"Hello, World!", 0)),
        "duplicate_header"
    );
    let none = headers(&[]);
    assert_eq!(
        verdict(&verifier.verify(&none, b"Hello, World!", 0)),
        "signature_missing"
    );
}

#[test]
fn sha1_only_where_it_is_allowed_and_never_instead() {
    let sha1 = ("x-hub-signature", HELLO_SHA1);
    let good = format!("sha256={HELLO}");
    let bad = format!("sha256={}", "0".repeat(64));
    let cases: &[(bool, &[(&str, &str)], &str)] = &[
        (false, &[sha1], "signature_scheme"),
        (true, &[sha1], "accepted"),
        (true, &[("x-hub-signature", "sha1=")], "signature_malformed"),
        (
            true,
            &[("x-hub-signature", &HELLO_SHA1.replace('1', "2"))],
            "signature_malformed",
        ),
        (
            true,
            &[("x-hub-signature", &format!("sha1={}", "0".repeat(40)))],
            "signature_mismatch",
        ),
        (false, &[sha1, ("x-hub-signature-256", &good)], "accepted"),
        (
            true,
            &[sha1, ("x-hub-signature-256", &bad)],
            "signature_mismatch",
        ),
        (
            true,
            &[sha1, ("x-hub-signature-256", "")],
            "signature_malformed",
        ),
    ];
    for (allow_sha1, list, expected) in cases {
        let options = Options {
            allow_sha1: *allow_sha1,
            ..Options::default()
        };
        let verifier = verifier_with("github", &["other", GITHUB_SECRET], &options);
        let result = verifier.verify(&headers(list), b"Hello, World!", 0);
        assert_eq!(verdict(&result), *expected, "{allow_sha1} {list:?}");
        if let Ok(event) = result {
            assert_eq!(event.secret_index, 1);
        }
    }
}

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
    let cases: &[(&[u8], &[(&str, &str)], &str)] = &[
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
    let cases: &[(&[(&str, &str)], &str)] = &[
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
