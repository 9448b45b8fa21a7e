use super::*;

fn code(fault: Fault) -> String {
    match fault {
        Fault::Invalid { name, .. } => name,
        Fault::Unclear(_) => "unclear".to_owned(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn names_and_uids() {
    for good in ["a", "A-b_c.9", &"x".repeat(256)] {
        assert_eq!(uid(good, "app_"), Ok(()), "{good}");
    }
    for bad in [
        "",
        "a b",
        "a/b",
        "é",
        "a\0",
        ".",
        "..",
        "app_x",
        &"x".repeat(257),
    ] {
        assert!(uid(bad, "app_").is_err(), "{bad}");
    }
    assert_eq!(uid("ep_x", "app_"), Ok(()));
}

#[test]
fn event_types_have_parts() {
    for good in ["a", "invoice.paid", "a-b_c.D9.x", "__proto__"] {
        assert_eq!(event_type(good), Ok(()), "{good}");
    }
    for bad in [
        "",
        ".",
        "a..b",
        ".a",
        "a.",
        "*",
        "a.*",
        "a b",
        "ü",
        &"x".repeat(257),
    ] {
        assert!(event_type(bad).is_err(), "{bad}");
    }
}

#[test]
fn channels_are_counted_and_measured() {
    let list = |count: usize, length| vec!["c".repeat(length); count];
    assert_eq!(channels(&list(5, 128), 5), Ok(()));
    for bad in [list(0, 1), list(6, 1), list(1, 129), list(1, 0)] {
        assert!(channels(&bad, 5).is_err());
    }
}

#[test]
fn fields_stay_what_was_written() {
    let body = br#"{"payload": {"b":1.00, "a":[ 12345678901234567890123 ]}, "x": null}"#;
    let mut fields = Fields::read(body).unwrap();
    let payload = fields.raw("payload").unwrap();
    assert_eq!(
        payload.get(),
        r#"{"b":1.00, "a":[ 12345678901234567890123 ]}"#
    );
    assert_eq!(fields.text("x"), Ok(Sent::Null));
    assert_eq!(fields.text("y"), Ok(Sent::Absent));
    fields.finish().unwrap();
}

#[test]
fn what_nobody_takes_is_refused() {
    let fault =
        |body: &'static str| code(Fields::read(body.as_bytes()).unwrap().finish().unwrap_err());
    assert_eq!(fault(r#"{"createdAt": 1}"#), "createdAt");
    assert_eq!(fault(r#"{"<b>": 1}"#), "");
}

#[test]
fn broken_bodies_are_unclear_and_wrong_ones_invalid() {
    let fault = |body: &[u8]| code(Fields::read(body).unwrap_err());
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    for body in [
        &b""[..],
        b"{",
        b"{}{}",
        b"{\"a\":1,}",
        b"{\"a\":\"\xff\"}",
        deep.as_bytes(),
    ] {
        assert_eq!(fault(body), "unclear");
    }
    for body in ["[]", "1", "null", "\"text\""] {
        assert_eq!(fault(body.as_bytes()), "");
    }
}

#[test]
fn depth_is_counted_outside_of_texts() {
    assert!(!too_deep("[".repeat(128).as_bytes()));
    assert!(too_deep("[".repeat(129).as_bytes()));
    assert!(!too_deep(format!("\"\\\"{}\"", "[".repeat(500)).as_bytes()));
    assert!(!too_deep("[]".repeat(500).as_bytes()));
}

#[test]
fn texts_numbers_and_notes_have_bounds() {
    type Read = fn(&mut Fields<'_>) -> Option<Fault>;
    let text: Read = |fields| fields.text("x").err();
    let rate: Read = |fields| fields.throttle_rate().err();
    let notes: Read = |fields| fields.metadata().err();
    let long = format!(r#"{{"metadata":{{"k":"{}"}}}}"#, "v".repeat(4090));
    for (read, body, fault) in [
        (text, r#"{"x":"\u0000"}"#, Some("x")),
        (text, r#"{"x":7}"#, Some("x")),
        (text, r#"{"x":"\ud800"}"#, Some("x")),
        (rate, r#"{"throttleRate":0}"#, Some("throttleRate")),
        (rate, r#"{"rateLimit":65536}"#, Some("rateLimit")),
        (rate, r#"{"rateLimit":1e400}"#, Some("rateLimit")),
        (rate, r#"{"rateLimit":1}"#, None),
        (notes, r#"{"metadata":{"a":1}}"#, Some("metadata")),
        (notes, r#"{"metadata":{"a":"\u0000"}}"#, Some("metadata")),
        (notes, r#"{"metadata":{"a":"b"}}"#, None),
        (notes, &long, Some("metadata")),
    ] {
        let found = read(&mut Fields::read(body.as_bytes()).unwrap()).map(code);
        assert_eq!(found.as_deref(), fault, "{body}");
    }
}

#[test]
fn absent_null_and_value_change_what_is_kept() {
    let change = |sent: Sent<u8>| {
        let mut kept = Some(1);
        sent.write_to(&mut kept);
        kept
    };
    assert_eq!(
        [
            change(Sent::Absent),
            change(Sent::Null),
            change(Sent::Value(2))
        ],
        [Some(1), None, Some(2)]
    );
}
