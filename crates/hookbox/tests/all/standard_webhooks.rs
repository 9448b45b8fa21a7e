//! Standard Webhooks, received: published vectors, rotation, ids and bodies.

use hookbox::{Event, IdOrigin, Refusal};

use crate::request::{List, headers, verdict, verifier};

pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
pub(crate) const PUBLIC: &str = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
const PRIVATE: &str =
    "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
pub(crate) const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
pub(crate) const TIME: &str = "1614265330";
pub(crate) const NOW: i64 = 1_614_265_330;
pub(crate) const BODY: &[u8] = br#"{"test": 2432232314}"#;
pub(crate) const GOOD: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
pub(crate) const GOOD_ED25519: &str =
    "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==";

pub(crate) fn verify(
    secrets: &[&str],
    list: List<'_>,
    body: &[u8],
    now: i64,
) -> Result<Event, Refusal> {
    verifier("standard-webhooks", secrets).verify(&headers(list), body, now)
}

#[test]
fn published_vectors() {
    /// Secret, id, time, signature, body, verdict.
    type Case<'a> = (&'a str, &'a str, &'a str, &'a str, &'a [u8], &'a str);
    let user = br#"{"email":"test@example.com","username":"test_user"}"#;
    let other = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    let other_good = "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=";
    let other_id = "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk";
    let bare = SECRET.strip_prefix("whsec_").unwrap();
    let cases: &[Case<'_>] = &[
        (other, other_id, "1649367553", other_good, user, "accepted"),
        (
            other,
            other_id,
            "1649367554",
            other_good,
            user,
            "signature_mismatch",
        ),
        (
            other,
            ID,
            "1649367553",
            other_good,
            user,
            "signature_mismatch",
        ),
        (
            other,
            other_id,
            "1649367553",
            other_good,
            BODY,
            "signature_mismatch",
        ),
        (SECRET, ID, TIME, GOOD, BODY, "accepted"),
        (bare, ID, TIME, GOOD, BODY, "accepted"),
        (other, ID, TIME, GOOD, BODY, "signature_mismatch"),
        (PUBLIC, ID, TIME, GOOD_ED25519, BODY, "accepted"),
        (PRIVATE, ID, TIME, GOOD_ED25519, BODY, "accepted"),
        (PUBLIC, ID, TIME, GOOD_ED25519, user, "signature_mismatch"),
        (
            PUBLIC,
            ID,
            "1614265331",
            GOOD_ED25519,
            BODY,
            "signature_mismatch",
        ),
        // The specification prints this signature beside an id and a time of another message.
        (
            PUBLIC,
            "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W",
            "1674087231",
            GOOD_ED25519,
            BODY,
            "signature_mismatch",
        ),
        (
            SECRET,
            ID,
            TIME,
            "v1,v48jdbgvh29KJz2Qc+ghw8G6vG3nAKnujWBg8oM/62A=",
            b"",
            "accepted",
        ),
    ];
    for (secret, id, time, signature, body, expected) in cases {
        let list = [
            ("webhook-id", *id),
            ("webhook-timestamp", *time),
            ("webhook-signature", *signature),
        ];
        let result = verify(&[secret], &list, body, time.parse().unwrap());
        assert_eq!(verdict(&result), *expected, "{id} {time} {signature}");
        if let Ok(event) = result {
            assert_eq!(
                (event.id.as_str(), event.id_origin),
                (*id, IdOrigin::Signed)
            );
        }
    }
}

#[test]
fn rotation_accepts_either_key_in_either_position() {
    let keys = [
        "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=",
    ];
    let signatures = [
        "v1,LH6iSeIQ4CSoqKp0jPAjIJGJrjbG3QBKt3lLL0ewpCg=",
        "v1,uwz7cFaMiqTYKFpTuAf20S6PrXS9anmY7b93FEH1F0s=",
    ];
    let body = br#"{"id":"evt_1","ok":true}"#;
    let check = |secrets: &[&str], signature: &str| {
        let list = [
            ("webhook-id", "msg_2K5E7Y8J6T4Q"),
            ("webhook-timestamp", "1700000000"),
            ("webhook-signature", signature),
        ];
        verify(secrets, &list, body, 1_700_000_000)
            .ok()
            .map(|event| event.secret_index)
    };
    let both = signatures.join(" ");
    let reversed = format!("{} {}", signatures[1], signatures[0]);
    for list in [&both, &reversed] {
        assert_eq!(check(&keys[..1], list), Some(0));
        assert_eq!(check(&keys[1..], list), Some(0));
        assert_eq!(check(&[SECRET], list), None);
    }
    assert_eq!(check(&keys, signatures[0]), Some(0));
    assert_eq!(check(&keys, signatures[1]), Some(1));
    assert_eq!(check(&[PUBLIC, keys[1]], signatures[1]), Some(1));
    assert_eq!(check(&keys[..1], signatures[1]), None);
}

#[test]
fn what_the_body_says() {
    let secret: hookbox::Secret = SECRET.parse().unwrap();
    let cases: &[(&str, &str, Option<i64>)] = &[
        (
            r#"{"type":"user.created","timestamp":"2022-11-03T20:26:10.344522Z","data":{"type":"x"}}"#,
            "user.created",
            Some(1_667_507_170_344),
        ),
        (r#"{"type":"a","timestamp":1667507170}"#, "a", None),
        (r#"{"type":1,"timestamp":"soon"}"#, "unknown", None),
        ("plain text", "unknown", None),
    ];
    for (body, event_type, time) in cases {
        let signature = secret.sign(ID, NOW, body.as_bytes());
        let list = [
            ("webhook-id", ID),
            ("webhook-timestamp", TIME),
            ("webhook-signature", &signature),
        ];
        let event = verify(&[SECRET], &list, body.as_bytes(), NOW).unwrap();
        assert_eq!(
            (event.event_type.as_str(), event.occurred_at_ms),
            (*event_type, *time)
        );
        assert_eq!(event.id, ID);
    }
}

#[test]
fn bytes_cannot_move_between_id_time_and_body() {
    let secret: hookbox::Secret = SECRET.parse().unwrap();
    let signature = secret.sign("a", NOW, b"1614265331.x");
    // The signed content is the same; what it means is not.
    let list = [
        ("webhook-id", "a.1614265330"),
        ("webhook-timestamp", "1614265331"),
        ("webhook-signature", &signature),
    ];
    assert_eq!(
        verdict(&verify(&[SECRET], &list, b"x", NOW)),
        "id_malformed"
    );
}

#[test]
fn ids() {
    let secret: hookbox::Secret = SECRET.parse().unwrap();
    let long = "i".repeat(1025);
    let cases: &[(&str, &str)] = &[
        (ID, "accepted"),
        ("7", "accepted"),
        (&long[..1024], "accepted"),
        (&long, "id_too_long"),
        // The id ends at the first full stop of the signed content.
        ("msg.1", "id_malformed"),
        ("msg\u{e9}", "id_malformed"),
        ("msg\t1", "id_malformed"),
    ];
    for (id, expected) in cases {
        let signature = secret.sign(id, NOW, BODY);
        let list = [
            ("webhook-id", *id),
            ("webhook-timestamp", TIME),
            ("webhook-signature", &signature),
        ];
        assert_eq!(
            verdict(&verify(&[SECRET], &list, BODY, NOW)),
            *expected,
            "{id:.20}"
        );
    }
}
