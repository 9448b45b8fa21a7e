use super::*;
use crate::settings::Given;

#[test]
fn reads_sizes() {
    let table = [
        ("1MiB", Some(1 << 20)),
        ("26 MiB", Some(26 << 20)),
        ("10", Some(10)),
        ("1KiB", Some(1024)),
    ];
    for (text, bytes) in table {
        assert_eq!(size(text), bytes, "{text}");
    }
    for text in ["", "0", "x", "1MB", "-1", "99999999999999999999GiB"] {
        assert_eq!(size(text), None, "{text}");
    }
}

#[test]
fn reads_a_source_and_tells_what_is_wrong_with_one() {
    let good = Given {
        file: "[[source]]\nname = \"stripe\"\nprovider = \"stripe\"\nsecrets = [{ env = \"S\" }, \"whsec_b\"]\n\
               forward = [\"http://127.0.0.1:3000/x\"]\ntolerance = \"1m\"\nmax_body = \"2MiB\""
            .to_owned(),
        environment: [("S".to_owned(), "whsec_a".to_owned())].into(),
        ..Given::default()
    };
    let source = &good.settings().unwrap().sources[0];
    assert_eq!(
        source
            .secrets
            .iter()
            .map(Secret::expose)
            .collect::<Vec<_>>(),
        ["whsec_a", "whsec_b"]
    );
    assert_eq!(source.application_uid, "default");
    assert_eq!(
        (source.rules.tolerance_seconds, source.rules.max_body_bytes),
        (Some(60), Some(2 << 20))
    );

    let bad = Given {
        file: "[[source]]\nname = \"A b\"\nprovider = \"strip\"\nsecrets = []\nforward = [\"x\"]\ntolerance = \"y\"".to_owned(),
        ..Given::default()
    };
    let faults = bad.settings().unwrap_err().0;
    assert_eq!(faults.len(), 4, "{faults:?}");
}

#[test]
fn every_fault_of_every_source_is_told_by_its_name() {
    let given = Given {
        file: "[[source]]\nname = \"a\"\nprovder = \"stripe\"\nsecrets = \"x\"\nallow_sha1 = 1\n\
               [[source]]\nname = \"b\"\nprovider = \"stripe\"\nsecrets = [{ env = \"NONE\" }, { env = \"E\" }, 1]"
            .to_owned(),
        environment: [("E".to_owned(), String::new())].into(),
        ..Given::default()
    };
    let rule = "secrets: write \"…\", { env = \"NAME\" } or { file = \"PATH\" }";
    assert_eq!(
        given.settings().unwrap_err().0,
        [
            "source 'a': it has no provider",
            "source 'a': secrets: write a list, [ … ]",
            "source 'a': allow_sha1: write true or false",
            "source 'a': a source has no 'provder'; did you mean 'provider'?",
            "source 'b': the variable NONE is not set",
            "source 'b': the variable E is not set",
            &format!("source 'b': {rule}"),
        ]
    );
}
