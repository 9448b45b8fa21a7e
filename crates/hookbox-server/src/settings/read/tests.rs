use super::*;

fn given(file: &str, environment: &[(&str, &str)], flags: &[(&'static str, &str)]) -> Given {
    Given {
        file: file.to_owned(),
        environment: environment
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect(),
        flags: flags.iter().map(|(k, v)| (*k, (*v).to_owned())).collect(),
        ..Given::default()
    }
}

#[test]
fn flags_overrule_the_environment_and_that_the_file() {
    let file = "listen = \"1.1.1.1:1\"";
    let listen = |environment: &[_], flags: &[_]| {
        given(file, environment, flags)
            .settings()
            .unwrap()
            .listen
            .to_string()
    };
    assert_eq!(listen(&[], &[]), "1.1.1.1:1");
    assert_eq!(listen(&[("HOOKBOX_LISTEN", "2.2.2.2:2")], &[]), "2.2.2.2:2");
    assert_eq!(
        listen(
            &[("HOOKBOX_LISTEN", "2.2.2.2:2")],
            &[("listen", "3.3.3.3:3")]
        ),
        "3.3.3.3:3"
    );
}

#[test]
fn all_faults_are_told_at_once() {
    let file = "lisen = \"x\"\nallow_http = \"maybe\"";
    let environment = [
        ("HOOKBOX_ADMIN_TOKEN", "short"),
        ("HOOKBOX_METRICS_TOKEN", "short"),
        ("HOOKBOX_DATABASE", "redis://x"),
        ("HOOKBOX_SECRET_KEY", "AAAA"),
    ];
    let faults = given(file, &environment, &[("retry_schedule", "5x")])
        .settings()
        .unwrap_err()
        .0;
    for part in [
        "no setting 'lisen'; did you mean 'listen'?",
        "allow_http: write true or false",
        "HOOKBOX_ADMIN_TOKEN: a token has 32 characters or more",
        "HOOKBOX_METRICS_TOKEN: a token for metrics has 16 characters or more",
        "HOOKBOX_DATABASE: write sqlite:PATH, postgres:",
        "HOOKBOX_SECRET_KEY: the key must be 32 bytes",
        "--retry-schedule: '5x' is not a duration",
    ] {
        assert!(
            faults.iter().any(|fault| fault.contains(part)),
            "{part} in {faults:?}"
        );
    }
    assert_eq!(faults.len(), 7);
}

#[test]
fn faults_show_no_secret() {
    for file in [
        "admin_token = \"canary",
        "secret_key = 1canary",
        "admin_token = \"canary\"",
        "secret_key = \"canary\"",
        "[[source]]\nname = \"a\"\nprovider = \"stripe\"\nsecrets = \"canary\"",
        "[[source]]\nname = \"a\"\nprovider = \"stripe\"\nsecrets = [{ evn = \"canary\" }]",
    ] {
        let faults = given(file, &[], &[]).settings().unwrap_err().to_string();
        assert!(!faults.contains("canary"), "{faults}");
    }
}

#[test]
fn a_secret_may_stand_in_a_file_of_its_own_but_not_in_two_places() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let token = "t".repeat(32);
    std::fs::write(file.path(), format!("{token}\n")).unwrap();
    let path = file.path().to_str().unwrap();
    let one = given("", &[("HOOKBOX_ADMIN_TOKEN_FILE", path)], &[]);
    assert_eq!(one.settings().unwrap().admin_token.unwrap().expose(), token);
    let both = [
        ("HOOKBOX_ADMIN_TOKEN_FILE", path),
        ("HOOKBOX_ADMIN_TOKEN", &token),
    ];
    let faults = given("", &both, &[]).settings().unwrap_err().0;
    assert_eq!(
        faults,
        ["set HOOKBOX_ADMIN_TOKEN or HOOKBOX_ADMIN_TOKEN_FILE, not both"]
    );
}

#[test]
fn who_calls_a_server_needs_nothing_of_what_it_serves() {
    let file = "database = \"postgres://x\"\n[[source]]\nname = \"a\"\nprovider = \"stripe\"\nsecrets = [{ env = \"X\" }]";
    let admin = given(file, &[("HOOKBOX_ADMIN_TOKEN", "short")], &[]);
    assert_eq!(admin.caller().unwrap().token.unwrap().expose(), "short");
    let own = given(file, &[("HOOKBOX_TOKEN", "own")], &[("url", "http://h:1/")]);
    let caller = own.caller().unwrap();
    assert_eq!(
        (caller.url.as_str(), caller.token.unwrap().expose()),
        ("http://h:1", "own")
    );
    let faults = given("", &[], &[("url", "x")]).caller().unwrap_err().0;
    assert_eq!(
        faults,
        ["--server: write for example http://127.0.0.1:8080"]
    );
}

#[test]
fn a_file_that_is_no_toml_is_a_fault_with_its_place() {
    let faults = given("listen = ", &[], &[])
        .settings()
        .unwrap_err()
        .to_string();
    assert!(faults.contains("line 1"), "{faults}");
}
