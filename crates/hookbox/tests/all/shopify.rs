//! Shopify: known signatures, and the key of an event.

use hookbox::IdOrigin;

use crate::request::{List, headers, shopify, verdict, verifier};

const DERIVED: &str = "JEgGQfH5mgRSTOg5Z5eGq+jnJTMbAggOqJZOEU41GAE=";
const BODY: &[u8] = br#"{"id":"evt_1","type":"order.paid","created":1700000000}"#;

#[test]
fn known_signatures() {
    let cases: &[(&str, &[u8], &str)] = &[
        (
            "Convoy",
            b"Test Payload Body",
            "16FUVH58NeMcTIIOICN2UJOcPTTa4TbjCndXymGrtM8=",
        ),
        ("derived-secret", BODY, DERIVED),
    ];
    for (secret, body, signature) in cases {
        let verifier = verifier("shopify", &["other", secret]);
        let map = headers(&[("X-Shopify-Hmac-SHA256", signature)]);
        assert_eq!(verifier.verify(&map, body, 0).unwrap().secret_index, 1);
        let result = verifier.verify(&map, &body[1..], 0);
        assert_eq!(verdict(&result), "signature_mismatch");
    }
}

#[test]
fn the_header() {
    let cases: &[(&str, &str)] = &[
        ("accepted", DERIVED),
        ("signature_malformed", ""),
        ("signature_malformed", &DERIVED[..43]),
        (
            "signature_malformed",
            "JEgGQfH5mgRSTOg5Z5eGq-jnJTMbAggOqJZOEU41GAE=",
        ),
        (
            "signature_malformed",
            "JEgGQfH5mgRSTOg5Z5eGq+jnJTMbAggOqJZOEU41GAF=",
        ),
        (
            "signature_malformed",
            "JEgGQfH5mgRSTOg5Z5eGq+jnJTMbAggOqJZOEU41GAE==",
        ),
        (
            "signature_malformed",
            "24480641f1f99a04524ce839679786abe8e725331b02080ea8964e114e351801",
        ),
        (
            "signature_mismatch",
            "AAAAQfH5mgRSTOg5Z5eGq+jnJTMbAggOqJZOEU41GAE=",
        ),
    ];
    for (expected, header) in cases {
        let map = headers(&[("x-shopify-hmac-sha256", header)]);
        let result = verifier("shopify", &["derived-secret"]).verify(&map, BODY, 0);
        assert_eq!(verdict(&result), *expected, "{header}");
    }
    let twice = headers(&[
        ("x-shopify-hmac-sha256", DERIVED),
        ("x-shopify-hmac-sha256", DERIVED),
    ]);
    let result = verifier("shopify", &["derived-secret"]).verify(&twice, BODY, 0);
    assert_eq!(verdict(&result), "duplicate_header");
}

#[test]
fn the_key_is_shop_topic_and_event() {
    const SHOP: (&str, &str) = ("x-shopify-shop-domain", "a.myshopify.com");
    const TOPIC: (&str, &str) = ("x-shopify-topic", "orders/paid");
    const EVENT: (&str, &str) = ("x-shopify-event-id", "e-1");
    const WEBHOOK: (&str, &str) = ("x-shopify-webhook-id", "w-1");
    let digest = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    let cases: &[(List<'_>, String, IdOrigin)] = &[
        (
            &[SHOP, TOPIC, EVENT, WEBHOOK],
            "a.myshopify.com:orders/paid:event:e-1".to_owned(),
            IdOrigin::Unsigned,
        ),
        (
            &[SHOP, TOPIC, WEBHOOK],
            "a.myshopify.com:orders/paid:webhook:w-1".to_owned(),
            IdOrigin::Unsigned,
        ),
        (
            &[SHOP, TOPIC],
            format!("a.myshopify.com:orders/paid:{digest}"),
            IdOrigin::Content,
        ),
        (&[EVENT], "::event:e-1".to_owned(), IdOrigin::Unsigned),
        (&[], format!("::{digest}"), IdOrigin::Content),
        (
            &[
                ("x-shopify-shop-domain", "a:b%"),
                ("x-shopify-topic", "c"),
                EVENT,
            ],
            "a%3Ab%25:c:event:e-1".to_owned(),
            IdOrigin::Unsigned,
        ),
        (
            &[
                ("x-shopify-shop-domain", "a"),
                ("x-shopify-topic", "b%:c"),
                EVENT,
            ],
            "a:b%25%3Ac:event:e-1".to_owned(),
            IdOrigin::Unsigned,
        ),
    ];
    for (list, id, origin) in cases {
        let event = shopify(b"{}", list).unwrap();
        assert_eq!((&event.id, event.id_origin), (id, *origin));
    }
}

#[test]
fn a_key_that_is_too_long_is_refused() {
    let long = "x".repeat(1020);
    for list in [
        &[("x-shopify-event-id", long.as_str())][..],
        &[("x-shopify-shop-domain", &long)],
        &[
            ("x-shopify-topic", &long[..256]),
            ("x-shopify-webhook-id", &long[..800]),
        ],
    ] {
        assert_eq!(verdict(&shopify(b"{}", list)), "id_too_long");
    }
}

#[test]
fn type_and_time_are_headers() {
    let cases: &[(List<'_>, &str, Option<i64>)] = &[
        (&[], "unknown", None),
        (
            &[
                ("x-shopify-topic", "orders/create"),
                ("x-shopify-triggered-at", "2023-03-29T18:00:27.877041743Z"),
            ],
            "orders/create",
            Some(1_680_112_827_877),
        ),
        (
            &[("x-shopify-triggered-at", "2023-03-29T14:00:27-04:00")],
            "unknown",
            Some(1_680_112_827_000),
        ),
        (&[("x-shopify-triggered-at", "yesterday")], "unknown", None),
    ];
    for (list, event_type, time) in cases {
        let event = shopify(br#"{"type":"no","created":1}"#, list).unwrap();
        assert_eq!(
            (event.event_type.as_str(), event.occurred_at_ms),
            (*event_type, *time)
        );
    }
}
