use super::*;

#[test]
fn some_names_are_not_for_users() {
    for name in [
        "X-Tenant",
        "authorization",
        "x_custom",
        "Cookie",
        "x-webhook-id",
    ] {
        assert_eq!(check_name(name), Ok(()), "{name}");
    }
    for name in [
        "",
        "a b",
        "a:b",
        "a\r\nb",
        "ä",
        "Host",
        "HOST",
        "Connection",
        "Expect",
        "Content-Length",
        "content_length",
        "TE",
        "Trailer",
        "Upgrade",
        "Keep-Alive",
        "Proxy-Authorization",
        "Date",
        "webhook-id",
        "Webhook_Signature",
        "svix-id",
        "hookbox-source",
        "X-Amz-Date",
        "x-goog-iam",
        "User-Agent",
    ] {
        assert!(check_name(name).is_err(), "{name}");
    }
}

#[test]
fn values_are_one_line_of_ascii() {
    assert_eq!(check_value("Bearer a\tb ~"), Ok(()));
    for value in ["a\rb", "a\nb", "a\0", "\x7f", "é", &"x".repeat(LONGEST + 1)] {
        assert!(check_value(value).is_err(), "{value:?}");
    }
}

#[test]
fn together_they_have_bounds() {
    let many = |count: usize, length| -> Vec<_> {
        (0..count)
            .map(|n| (format!("x-{n}"), "v".repeat(length)))
            .collect()
    };
    assert_eq!(check(&many(50, 1)), Ok(()));
    assert!(check(&many(51, 1)).is_err());
    assert!(check(&many(5, LONGEST)).is_err());
    let twice = [("x-a".to_owned(), "1"), ("X-A".to_owned(), "2")];
    assert!(check(&twice).is_err());
}

#[test]
fn a_patch_sets_and_removes_whatever_the_case() {
    let mut kept = vec![
        ("X-A".to_owned(), Secret::new("1")),
        ("x-b".to_owned(), Secret::new("2")),
    ];
    merge(
        &mut kept,
        vec![
            ("x-a".to_owned(), Some("3".to_owned())),
            ("X-B".to_owned(), None),
        ],
    );
    let kept: Vec<_> = kept
        .iter()
        .map(|(name, value)| (name.as_str(), value.expose()))
        .collect();
    assert_eq!(kept, [("x-a", "3")]);
}
