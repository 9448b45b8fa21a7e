//! GitHub: published vectors, reported bugs and the legacy header.

use hookbox::Options;

use crate::request::{GITHUB_SECRET, List, headers, verdict, verifier, verifier_with};

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
    let cases: &[(bool, List<'_>, &str)] = &[
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
