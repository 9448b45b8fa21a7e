use super::*;

const NOW: Time = Time(1_700_000_000_000);

fn read(body: &str) -> Result<Wanted<'_>, String> {
    Wanted::read(Fields::read(body.as_bytes()).unwrap(), "mine", NOW).map_err(|fault| match fault {
        Fault::Invalid {
            name,
            kind: "value_error",
            ..
        } => name,
        Fault::Invalid { kind, .. } => kind.to_owned(),
        other => panic!("{other:?}"),
    })
}

#[test]
fn a_payload_is_a_part_of_the_body() {
    let text = r#"{"eventType":"a.b","payload": {"z": 10.00, "a":99999999999999999999 }}"#;
    let body = Bytes::from(text);
    let wanted = Wanted::read(Fields::read(&body).unwrap(), "mine", NOW).unwrap();
    let payload = part_of(&body, wanted.payload);
    assert_eq!(payload, r#"{"z": 10.00, "a":99999999999999999999 }"#);
    assert_eq!(payload.as_ptr(), body[30..].as_ptr());
}

#[test]
fn what_a_message_must_be() {
    let with = |more: &str| {
        read(&format!(r#"{{"eventType":"a","payload":{{}}{more}}}"#))
            .map(|_| ())
            .err()
    };
    for good in [
        "",
        r#","eventId":"e-1","channels":["c"],"tags":["t"]"#,
        r#","payloadRetentionPeriod":90,"payloadRetentionHours":4"#,
        r#","deliverAt":null,"transformationsParams":{},"application":null"#,
        r#","application":{"uid":"mine","name":"Mine"}"#,
    ] {
        assert_eq!(with(good), None, "{good}");
    }
    for (bad, fault) in [
        (r#","eventId":"""#, "eventId"),
        (r#","eventId":"msg_1""#, "eventId"),
        (r#","channels":[]"#, "channels"),
        (r#","deliverAt":"2030-01-01T00:00:00Z""#, "deliverAt"),
        (
            r#","transformationsParams":{"rawPayload":"x"}"#,
            "transformationsParams",
        ),
        (r#","createdAt":1"#, "createdAt"),
        (
            r#","application":{"name":"Mine"}"#,
            "application_uid_missing",
        ),
        (
            r#","application":{"name":"Mine","uid":"other"}"#,
            "application_uid_mismatch",
        ),
    ] {
        assert_eq!(with(bad).as_deref(), Some(fault), "{bad}");
    }
    assert_eq!(
        read(r#"{"payload":{}}"#).err().as_deref(),
        Some("eventType")
    );
    assert_eq!(
        read(r#"{"eventType":"a..b","payload":{}}"#)
            .err()
            .as_deref(),
        Some("eventType")
    );
    for payload in ["null", "[]", "7", "\"x\""] {
        let body = format!(r#"{{"eventType":"a","payload":{payload}}}"#);
        assert_eq!(read(&body).err().as_deref(), Some("payload"), "{body}");
    }
}

#[test]
fn a_shown_payload_is_always_an_object() {
    let shown = |bytes: &[u8]| serde_json::to_string(&Payload::of(bytes)).unwrap();
    assert_eq!(shown(br#" {"b": 1.0} "#), r#"{"b": 1.0}"#);
    assert_eq!(shown(b"[1]"), r#"{"text":"[1]"}"#);
    assert_eq!(shown(b""), r#"{"text":""}"#);
    assert_eq!(shown(b"a=b&c"), r#"{"text":"a=b&c"}"#);
    assert_eq!(shown(b"\xff\xfe"), r#"{"base64":"//4="}"#);
    assert_eq!(serde_json::to_string(&Payload::Hidden).unwrap(), "{}");
}
