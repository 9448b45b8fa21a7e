//! `hookbox doctor`: what it finds in real installations, and that it leaves them alone.

use std::collections::BTreeMap;
use std::path::Path;

use hookbox_testkit::Database;
use hookbox_testkit::process::{ADMIN_TOKEN, Setup};
use hookbox_testkit::sign::STRIPE_SECRET;
use serde_json::Value;

use crate::given;
use crate::nodes::node;

/// What may differ between machines that run the tests, and says nothing of the installation.
const MACHINE: [&str; 8] = [
    "database.autovacuum",
    "database.checkpoint_distance",
    "database.durability",
    "database.long_transactions",
    "database.packet",
    "sqlite.network",
    "sqlite.space",
    "clock.database",
];
const OTHER_KEY: &str = "HxwdHh8aGxgZFhcUFRITEBEODwwNCgsICQYHBAUCAwA=";
const CANARY: &str = "canary_of_the_doctor_0123456789abcdef";

/// What was found, and the exit code.
struct Report {
    code: i32,
    findings: Vec<Value>,
}

impl Report {
    /// Runs it; nothing that it says holds a secret.
    async fn of(setup: &Setup, arguments: &[&str]) -> Self {
        let arguments = [&["doctor", "--json"], arguments].concat();
        let output = setup.run(&arguments).await;
        let text = String::from_utf8(output.stdout).expect("text");
        let said = String::from_utf8(output.stderr).expect("text");
        for secret in [CANARY, ADMIN_TOKEN, STRIPE_SECRET, OTHER_KEY] {
            assert!(
                !text.contains(secret) && !said.contains(secret),
                "{text}{said}"
            );
        }
        let answer: Value = match serde_json::from_str(&text) {
            Ok(answer) => answer,
            Err(error) => panic!("{error}: {text}{said}"),
        };
        Self {
            code: output.status.code().expect("it ends by itself"),
            findings: answer["findings"].as_array().expect("a list").clone(),
        }
    }

    /// The levels of everything that was found, the worst of each code.
    fn levels(&self) -> BTreeMap<&str, &str> {
        let order = ["ok", "note", "warning", "error"];
        let place = |level: &str| order.iter().position(|known| *known == level);
        let mut levels = BTreeMap::new();
        for finding in &self.findings {
            let code = finding["code"].as_str().expect("a code");
            let level = finding["level"].as_str().expect("a level");
            assert_eq!(finding["advice"].is_string(), level != "ok", "{finding}");
            let worst = levels.entry(code).or_insert(level);
            if place(level) > place(worst) {
                *worst = level;
            }
        }
        levels
    }

    /// What is not ok, machines aside.
    fn bad(&self) -> Vec<(&str, &str)> {
        let levels = self.levels().into_iter();
        levels
            .filter(|(code, level)| *level != "ok" && !MACHINE.contains(code))
            .collect()
    }

    fn found(&self, code: &str) -> String {
        let finding = self.findings.iter().find(|finding| finding["code"] == code);
        finding.map_or(String::new(), |finding| finding["found"].to_string())
    }

    #[track_caller]
    fn says(&self, code: &str, level: &str) {
        assert_eq!(
            self.levels().get(code),
            Some(&level),
            "{:#?}",
            self.findings
        );
        assert_eq!(
            self.code,
            i32::from(level == "error"),
            "{:#?}",
            self.findings
        );
    }
}

/// An installation without anything to remark.
fn setup() -> Setup {
    given::setup()
        .env("HOOKBOX_EGRESS_ALLOW", "")
        .env("HOOKBOX_ALLOW_HTTP", "false")
}

fn on(database: &Database) -> Setup {
    setup().env("HOOKBOX_DATABASE", database.url())
}

/// The files of a folder, but for what readers of the database share.
fn files(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| !path.to_string_lossy().ends_with("-shm"))
        .map(|path| (path.clone(), std::fs::read(path).expect("a file")))
        .collect();
    files.sort();
    files
}

/// Running, stopped and killed, all is well, and nothing changes.
async fn healthy(setup: Setup) {
    let source = given::source("stripe", &[STRIPE_SECRET], Some("http://localhost:9/"));
    let config = setup.path("hookbox.toml");
    let mut server = setup.config(&source).start().await;
    let only = |path: &Path| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    };
    only(&config);
    let report = Report::of(server.setup(), &["--deep"]).await;
    assert_eq!(report.bad(), []);
    assert_eq!(report.code, 0);
    for code in [
        "database.key",
        "database.schema",
        "server.ready",
        "dns.names",
        "queue.due",
    ] {
        assert!(
            report.levels().contains_key(code),
            "{code}: {:?}",
            report.levels()
        );
    }
    assert_eq!(report.found("sources.secrets"), "\"1 source\"");

    server.terminate().await;
    let folder = server.setup().path("");
    let before = files(&folder);
    let report = Report::of(server.setup(), &["--deep"]).await;
    assert_eq!(
        (report.bad(), report.code),
        (vec![("server.live", "note")], 0)
    );
    assert_eq!(files(&folder), before);

    server.restart().await;
    server.kill9().await;
    let before = files(&folder);
    let report = Report::of(server.setup(), &["--deep"]).await;
    assert_eq!(
        (report.bad(), report.code),
        (vec![("server.live", "note")], 0)
    );
    assert_eq!(files(&folder), before);
}

#[tokio::test]
async fn a_healthy_sqlite() {
    healthy(setup()).await;
}

#[tokio::test]
async fn a_healthy_postgres() {
    healthy(on(&Database::postgres().await)).await;
}

#[tokio::test]
async fn a_healthy_mysql() {
    healthy(on(&Database::mysql().await)).await;
}

#[tokio::test]
async fn a_database_without_a_schema_stays_without_one() {
    let postgres = Database::postgres().await;
    let mysql = Database::mysql().await;
    for setup in [setup(), on(&postgres), on(&mysql)] {
        for _ in 0..2 {
            let report = Report::of(&setup, &[]).await;
            report.says("database.schema", "note");
        }
        assert_eq!(files(&setup.path("")), []);
    }
}

#[tokio::test]
async fn another_key_is_told() {
    let postgres = Database::postgres().await;
    let mysql = Database::mysql().await;
    for setup in [setup(), on(&postgres), on(&mysql)] {
        let mut server = setup.start().await;
        server.terminate().await;
        let other = server.setup().clone().env("HOOKBOX_SECRET_KEY", OTHER_KEY);
        Report::of(&other, &[]).await.says("database.key", "error");
    }
}

#[tokio::test]
async fn a_newer_schema_is_told() {
    let postgres = Database::postgres().await;
    let mysql = Database::mysql().await;
    let setups = [setup(), on(&postgres), on(&mysql)];
    for setup in &setups {
        let migrated = setup.run(&["migrate"]).await;
        assert!(migrated.status.success(), "{migrated:?}");
    }
    let insert = |table| format!("INSERT INTO {table} (version, name, at) VALUES (99, 'x', 0)");
    let newer = insert("hookbox.migration");
    postgres.run_inside(&newer).await.expect("it is written");
    let newer = insert("migration");
    mysql.run_inside(&newer).await.expect("it is written");
    let db = rusqlite::Connection::open(setups[0].path("hookbox.db")).expect("a database");
    db.pragma_update(None, "user_version", 99)
        .expect("a number");
    drop(db);
    for setup in &setups {
        let report = Report::of(setup, &[]).await;
        report.says("database.schema_newer", "error");
    }
}

#[tokio::test]
async fn a_database_of_another_program_is_told() {
    let setup = setup();
    let db = rusqlite::Connection::open(setup.path("hookbox.db")).expect("a database");
    db.execute_batch("CREATE TABLE theirs (x)")
        .expect("a table");
    drop(db);
    let report = Report::of(&setup, &[]).await;
    report.says("database.foreign", "error");
    std::fs::write(setup.path("hookbox.db"), "no database at all, by no means").expect("a file");
    let report = Report::of(&setup, &[]).await;
    report.says("database.reachable", "error");
}

#[tokio::test]
async fn a_database_that_does_not_answer_is_told_without_its_password() {
    for url in [
        format!("postgres://u:{CANARY}@127.0.0.1:1/d"),
        format!("mysql://u:{CANARY}@127.0.0.1:1/d"),
        format!("postgres://127.0.0.1:1/d?password={CANARY}&unknown={CANARY}"),
    ] {
        let setup = setup().env("HOOKBOX_DATABASE", &url);
        let report = Report::of(&setup, &[]).await;
        report.says("database.reachable", "error");
    }
    for url in [
        format!("postgres://u:1/{CANARY}@127.0.0.1:1/d"),
        format!("postgres://u:{CANARY}@{CANARY}@127.0.0.1:1/d"),
    ] {
        let setup = setup().env("HOOKBOX_DATABASE", &url);
        Report::of(&setup, &[])
            .await
            .says("settings.valid", "error");
    }
}

/// A server that takes connections and says nothing.
#[tokio::test]
async fn a_database_that_says_nothing_is_told() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = silent.local_addr().expect("an address");
    for scheme in ["postgres", "mysql"] {
        let setup = setup().env("HOOKBOX_DATABASE", &format!("{scheme}://u@{address}/d"));
        let report = Report::of(&setup, &[]).await;
        report.says("database.reachable", "error");
    }
}

#[tokio::test]
async fn a_user_who_may_only_read_is_told() {
    let database = Database::postgres().await;
    let setup = node(&database);
    drop(setup.clone().start().await);
    let reader = format!("reader_{}", database.name());
    let grant = format!(
        "CREATE ROLE {reader} LOGIN; GRANT USAGE ON SCHEMA hookbox TO {reader}; \
         GRANT SELECT ON ALL TABLES IN SCHEMA hookbox TO {reader}"
    );
    database.run_inside(&grant).await.expect("a role");
    let (_, place) = database.url().rsplit_once('@').expect("a user");
    let report = Report::of(&setup.on(&format!("postgres://{reader}@{place}")), &[]).await;
    let drop = format!("DROP OWNED BY {reader}; DROP ROLE {reader}");
    database.run_inside(&drop).await.expect("the role");
    report.says("database.read_only", "error");
}

#[tokio::test]
async fn commits_that_do_not_wait_for_the_disk_are_told() {
    let database = Database::postgres().await;
    let name = database.name();
    let off = format!("ALTER DATABASE {name} SET synchronous_commit = off");
    database.run(&off).await.expect("it is set");
    let report = Report::of(&on(&database), &[]).await;
    report.says("database.durability", "error");
    assert!(
        report
            .found("database.durability")
            .contains("synchronous_commit")
    );
}

#[tokio::test]
async fn who_may_read_the_key_file_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut server = setup().env("HOOKBOX_SECRET_KEY", "").start().await;
    let key = server.setup().path("hookbox.db.key");
    let report = Report::of(server.setup(), &[]).await;
    report.says("settings.key_file_readable", "ok");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).expect("a mode");
    let report = Report::of(server.setup(), &[]).await;
    report.says("settings.key_file_readable", "warning");
    server.terminate().await;
    std::fs::remove_file(&key).expect("it is there");
    let report = Report::of(server.setup(), &[]).await;
    report.says("settings.secret_key", "error");
}

#[tokio::test]
async fn all_faults_of_the_settings_are_told_at_once() {
    let setup = setup()
        .config(&format!(
            "admin_token = \"{CANARY}\"\nlisten = 3\nno_such = \"{CANARY}\"\n"
        ))
        .env("HOOKBOX_ROLE", "nobody")
        .env("HOOKBOX_SECRET_KEY", CANARY)
        .env("HOOKBOX_DATABSE", "x");
    let report = Report::of(&setup, &[]).await;
    report.says("settings.valid", "error");
    let faults = report.findings.iter();
    let faults = faults.filter(|finding| finding["code"] == "settings.valid");
    assert_eq!(faults.count(), 3, "{:#?}", report.findings);
    assert!(
        report
            .found("settings.unknown_variable")
            .contains("HOOKBOX_DATABASE")
    );

    let report = Report::of(&setup.env("HOOKBOX_CONFIG", "/no/such/file"), &[]).await;
    report.says("settings.valid", "error");
}

#[tokio::test]
async fn names_are_looked_up_when_asked() {
    let report = Report::of(&setup(), &["--name", "no-such-name.invalid"]).await;
    report.says("dns.names", "warning");
    let report = Report::of(&setup(), &["--name", "localhost"]).await;
    report.says("dns.names", "ok");
}

#[tokio::test]
async fn the_terminal_says_what_to_do() {
    let output = setup().env("HOOKBOX_ROLE", "api").run(&["doctor"]).await;
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("error    settings.roles: "), "{text}");
    assert!(text.contains("leave `HOOKBOX_ROLE` out"), "{text}");
    assert!(text.contains("\n1 error, "), "{text}");
}
