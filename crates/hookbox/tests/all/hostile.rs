//! Every bit flipped, every header cut short: always refused, never a panic.

use hookbox::{Options, Verifier};
use http::header::{HeaderMap, HeaderValue};

use crate::request::{GITHUB_SECRET, headers, verifier, verifier_with};

/// A genuine request, and the headers that its signature protects.
struct Genuine {
    name: &'static str,
    verifier: Verifier,
    headers: HeaderMap,
    body: &'static [u8],
    now: i64,
    protected: &'static [&'static str],
}

fn genuine() -> Vec<Genuine> {
    const STANDARD: &[u8] = br#"{"test": 2432232314}"#;
    const FAMILIES: [[&str; 3]; 2] = [
        ["webhook-id", "webhook-timestamp", "webhook-signature"],
        ["svix-id", "svix-timestamp", "svix-signature"],
    ];
    let standard = |name, secret, family: &'static [&'static str; 3], signature: &str| Genuine {
        name,
        verifier: verifier("standard-webhooks", &[secret]),
        headers: headers(&[
            (family[0], "msg_p5jXN8AQM9LWM0D4loKWxJek"),
            (family[1], "1614265330"),
            (family[2], signature),
        ]),
        body: STANDARD,
        now: 1_614_265_330,
        protected: family,
    };
    let v1 = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    let sha1 = Options {
        allow_sha1: true,
        ..Options::default()
    };
    vec![
        Genuine {
            name: "stripe",
            verifier: verifier("stripe", &["whsec_test_primary_32_byte_key_material"]),
            headers: headers(&[(
                "stripe-signature",
                "t=1700000000,v1=4baa0848f825cb0ac3bb399a74627fed469f817c39cce6dc8c379ee6bbe24675",
            )]),
            body: br#"{"id":"evt_1","ok":true}"#,
            now: 1_700_000_000,
            protected: &["stripe-signature"],
        },
        Genuine {
            name: "github",
            verifier: verifier("github", &[GITHUB_SECRET]),
            headers: headers(&[(
                "x-hub-signature-256",
                "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
            )]),
            body: b"Hello, World!",
            now: 0,
            protected: &["x-hub-signature-256"],
        },
        Genuine {
            name: "github, SHA-1",
            verifier: verifier_with("github", &[GITHUB_SECRET], &sha1),
            headers: headers(&[(
                "x-hub-signature",
                "sha1=01dc10d0c83e72ed246219cdd91669667fe2ca59",
            )]),
            body: b"Hello, World!",
            now: 0,
            protected: &["x-hub-signature"],
        },
        Genuine {
            name: "shopify",
            verifier: verifier("shopify", &["Convoy"]),
            headers: headers(&[(
                "x-shopify-hmac-sha256",
                "16FUVH58NeMcTIIOICN2UJOcPTTa4TbjCndXymGrtM8=",
            )]),
            body: b"Test Payload Body",
            now: 0,
            protected: &["x-shopify-hmac-sha256"],
        },
        standard(
            "webhook",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            &FAMILIES[0],
            v1,
        ),
        standard(
            "svix",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            &FAMILIES[1],
            v1,
        ),
        standard(
            "ed25519",
            "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=",
            &FAMILIES[0],
            "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==",
        ),
    ]
}

/// Every value that differs from `bytes` in one bit.
fn flipped(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..bytes.len() * 8).map(|bit| {
        let mut changed = bytes.to_vec();
        changed[bit / 8] ^= 1 << (bit % 8);
        changed
    })
}

#[test]
fn genuine_requests_are_accepted() {
    for request in genuine() {
        let result = request
            .verifier
            .verify(&request.headers, request.body, request.now);
        assert!(result.is_ok(), "{}: {result:?}", request.name);
    }
}

#[test]
fn no_bit_of_a_body_can_change() {
    for request in genuine() {
        for body in flipped(request.body) {
            let result = request
                .verifier
                .verify(&request.headers, &body, request.now);
            assert!(
                result.is_err(),
                "{}: {}",
                request.name,
                String::from_utf8_lossy(&body)
            );
        }
        for end in 0..request.body.len() {
            let result =
                request
                    .verifier
                    .verify(&request.headers, &request.body[..end], request.now);
            assert!(result.is_err(), "{}: cut to {end}", request.name);
        }
        let longer = [request.body, b"\0"].concat();
        assert!(
            request
                .verifier
                .verify(&request.headers, &longer, request.now)
                .is_err()
        );
    }
}

#[test]
fn no_bit_of_a_protected_header_can_change() {
    for request in genuine() {
        for name in request.protected {
            let value = request.headers[*name].as_bytes();
            let cut = (0..value.len()).map(|end| value[..end].to_vec());
            let longer = [b"0", b"=", b"\t", b"\xff"].map(|more| [value, more].concat());
            for changed in flipped(value).chain(cut).chain(longer) {
                // What HTTP itself cannot carry never gets this far.
                let Ok(changed) = HeaderValue::from_bytes(&changed) else {
                    continue;
                };
                let mut map = request.headers.clone();
                map.insert(*name, changed.clone());
                let result = request.verifier.verify(&map, request.body, request.now);
                assert!(result.is_err(), "{}: {name}: {changed:?}", request.name);
            }
            let mut map = request.headers.clone();
            map.remove(*name);
            let result = request.verifier.verify(&map, request.body, request.now);
            assert!(result.is_err(), "{}: without {name}", request.name);
        }
    }
}

#[test]
fn no_request_passes_for_another_providers() {
    for (at, request) in genuine().iter().enumerate() {
        for (other, wrong) in genuine().iter().enumerate() {
            let result = wrong
                .verifier
                .verify(&request.headers, request.body, request.now);
            // Both families of Standard Webhooks headers are one provider's, and a GitHub
            // verifier that allows SHA-1 still takes the better signature.
            let same = at == other || matches!((at, other), (1, 2) | (4, 5) | (5, 4));
            assert_eq!(result.is_ok(), same, "{} by {}", request.name, wrong.name);
        }
    }
}
