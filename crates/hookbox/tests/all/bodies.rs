//! Bodies that are signed but odd: none of them panics, none of them is lost.

use hookbox::{IdOrigin, UNKNOWN_TYPE};

use crate::request::{github, headers, hmac_sha256, stripe, verifier};

#[test]
fn a_body_without_a_usable_id_gets_one_from_its_content() {
    let deep = [vec![b'['; 10_000], vec![b']'; 10_000]].concat();
    let long_id = format!(r#"{{"id":"{}"}}"#, "i".repeat(1025));
    let bodies: &[&[u8]] = &[
        b"",
        b"null",
        b"hello",
        b"\0\0\0",
        b"\xe2",
        b"\x00\xffraw\r\n",
        b"\x1f\x8b\x08\x00 looks compressed",
        b"{}",
        b"[]",
        br#"[{"id":"evt_1"}]"#,
        br#"{"id":null}"#,
        br#"{"id":""}"#,
        br#"{"id":17}"#,
        br#"{"id":1e400}"#,
        br#"{"id":{"id":"evt_1"}}"#,
        br#"{"id":["evt_1"]}"#,
        br#"{"id":"evt\u00001"}"#,
        br#"{"id":"evt\n1"}"#,
        br#"{"id":"\ud800"}"#,
        br#"{"id":"evt_a","id":"evt_b"}"#,
        br#"{"id":"evt_a","id":"evt_a"}"#,
        br#"{"ID":"evt_1"}"#,
        br#"{"id":"evt_1""#,
        br#"{"id":"evt_1"} x"#,
        b"\xef\xbb\xbf{\"id\":\"evt_1\"}",
        b"{\"id\":\"evt_\xff\"}",
        br"{'id':'evt_1'}",
        &deep,
        long_id.as_bytes(),
    ];
    let mut seen = std::collections::HashSet::new();
    for body in bodies {
        let event = stripe(body).unwrap();
        assert_eq!(
            event.id_origin,
            IdOrigin::Content,
            "{}",
            String::from_utf8_lossy(body)
        );
        assert_eq!(
            event.id,
            format!("sha256:{}", hex::encode(event.body_sha256))
        );
        assert_eq!(event.event_type, UNKNOWN_TYPE);
        assert!(seen.insert(event.id), "two bodies share an id");
        github(body, &[]).unwrap();
    }
}

#[test]
fn an_odd_body_keeps_the_id_that_it_has() {
    let nested = "[".repeat(10_000) + &"]".repeat(10_000);
    let objects = r#"{"a":"#.repeat(10_000) + "1" + &"}".repeat(10_000);
    let bodies: &[Vec<u8>] = &[
        br#" {"id" : "evt_1"} "#.to_vec(),
        br#"{"\u0069d":"evt_1"}"#.to_vec(),
        br#"{"id":"evt_\u0031","amount":10.00,"n":123456789012345678901234567890}"#.to_vec(),
        br#"{"x":1,"x":2,"id":"evt_1"}"#.to_vec(),
        br#"{"type":"a","type":"b","id":"evt_1"}"#.to_vec(),
        br#"{"type":7,"id":"evt_1","created":"now"}"#.to_vec(),
        br#"{"created":99999999999999999999,"id":"evt_1"}"#.to_vec(),
        br#"{"created":9223372036854775807,"id":"evt_1"}"#.to_vec(),
        b"{\"raw\":\"\xff\",\"id\":\"evt_1\"}".to_vec(),
        format!(r#"{{"data":{nested},"id":"evt_1"}}"#).into_bytes(),
        format!(r#"{{"data":{objects},"id":"evt_1"}}"#).into_bytes(),
        format!(r#"{{"type":{nested},"id":"evt_1"}}"#).into_bytes(),
        format!(r#"{{"created":{objects},"id":"evt_1"}}"#).into_bytes(),
    ];
    for body in bodies {
        let event = stripe(body).unwrap();
        assert_eq!(event.id, "evt_1", "{:.80}", String::from_utf8_lossy(body));
        assert_eq!(event.event_type, UNKNOWN_TYPE);
        assert_eq!(event.occurred_at_ms, None);
    }
}

#[test]
fn the_longest_id_and_type() {
    let body = format!(
        r#"{{"id":"{}","type":"{}"}}"#,
        "i".repeat(1024),
        "t".repeat(256)
    );
    let event = stripe(body.as_bytes()).unwrap();
    assert_eq!((event.id.len(), event.event_type.len()), (1024, 256));
    let body = format!(r#"{{"id":"evt_1","type":"{}"}}"#, "t".repeat(257));
    assert_eq!(stripe(body.as_bytes()).unwrap().event_type, UNKNOWN_TYPE);
}

#[test]
fn bytes_that_are_no_text_at_the_beginning_of_time() {
    let body = b"\x00\xffraw\r\n";
    let secret = "whsec_test_primary_32_byte_key_material";
    let tag = hex::encode(hmac_sha256(secret.as_bytes(), &[b"0.", body]));
    assert!(tag.starts_with("1d7dff87"), "the published one begins so");
    let map = headers(&[("stripe-signature", &format!("t=0,v1={tag}"))]);
    assert!(verifier("stripe", &[secret]).verify(&map, body, 0).is_ok());
}

#[test]
fn a_push_of_the_largest_size() {
    for size in [457_522, 26_214_400] {
        let body = format!(r#"{{"pad":"{}","action":"a"}}"#, "x".repeat(size - 23));
        assert_eq!(body.len(), size);
        let event = github(body.as_bytes(), &[("x-github-event", "push")]).unwrap();
        assert_eq!(event.event_type, "push.a");
    }
}
