//! When the disk does not take it, nobody is told that it was taken.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use hookbox_testkit::http::full;
use hookbox_testkit::process::Setup;
use hookbox_testkit::{Server, Sink, sign};
use http::Method;
use serde_json::{Value, json};

use crate::given;

const AT_ONCE: Duration = Duration::from_secs(2);

/// The server's database on a small disk of its own, seen by that process alone.
fn small_disk(sink: &Sink, options: &str) -> Setup {
    let config = given::source("stripe", &[sign::STRIPE_SECRET], Some(&sink.url("/")));
    let setup = given::setup().config(&config);
    let disk = setup.path("disk");
    std::fs::create_dir(&disk).expect("a folder to mount on");
    let database = format!("sqlite:{}", disk.join("hookbox.db").display());
    let mount = format!("mount -t tmpfs -o {options} tmpfs \"$DISK\" && exec \"$@\"");
    let mut wrapper = own_mounts();
    wrapper.extend(["sh", "-c", &mount, "sh"]);
    setup
        .env("HOOKBOX_DATABASE", &database)
        .env("DISK", &disk.display().to_string())
        .wrapped(&wrapper)
}

/// How to run a command with mounts of its own here.
fn own_mounts() -> Vec<&'static str> {
    for way in [["unshare", "-m"], ["unshare", "-rm"]] {
        let tried = Command::new(way[0])
            .args([way[1], "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
            .output();
        if tried.is_ok_and(|output| output.status.success()) {
            return way.to_vec();
        }
    }
    panic!(
        "this test mounts a small disk: run it as root, or where users may make namespaces (`unshare -rm`)"
    );
}

/// A file on the disk that only the server sees.
fn on_disk(server: &Server, name: &str) -> PathBuf {
    let disk = server.setup().path("disk");
    let root = PathBuf::from(format!("/proc/{}/root", server.pid().as_raw_nonzero()));
    root.join(disk.strip_prefix("/").expect("an absolute path"))
        .join(name)
}

fn fill(server: &Server) {
    let mut filler = std::fs::File::create(on_disk(server, "filler")).expect("the server's disk");
    for size in [1 << 16, 1 << 12, 1] {
        while filler.write_all(&vec![0; size]).is_ok() {}
    }
}

fn large_event(id: &str) -> sign::Signed {
    let filling = "x".repeat(100_000);
    let body = json!({"id": id, "type": "large", "filling": filling}).to_string();
    sign::stripe(sign::STRIPE_SECRET, body.as_bytes())
}

/// Both sides refuse at once and say so; nothing of it is remembered.
async fn both_doors_refuse(server: &Server, what: &str) {
    for _ in 0..3 {
        let asked = Instant::now();
        let event = server.stranger().event("stripe", &large_event(what)).await;
        assert_eq!(
            (event.status.as_u16(), event.code().as_str()),
            (503, "not_recorded")
        );
        let new = json!({"eventType": "a.b", "eventId": what, "payload": {"filling": "x".repeat(100_000)}});
        let message = server.client().post("/api/v1/app/default/msg", &new).await;
        assert_eq!(message.status, 503, "{message:?}");
        assert!(!message.code().is_empty());
        assert!(asked.elapsed() < AT_ONCE, "{:?}", asked.elapsed());
    }
}

/// The next good write works, as if the refused ones had never been.
async fn both_doors_work(server: &Server, sink: &Sink, what: &str) {
    let before = sink.arrivals().len();
    let event = large_event(what);
    let taken = server.stranger().event("stripe", &event).await.expect(200);
    assert_eq!(taken, json!({"received": true}));
    let new = json!({"eventType": "a.b", "eventId": what, "payload": {}});
    server
        .client()
        .post("/api/v1/app/default/msg", &new)
        .await
        .expect(202);
    let arrived = sink.wait_for(before + 1).await;
    assert!(arrived.iter().any(|arrival| arrival.body == event.body));
}

#[tokio::test]
async fn a_full_disk_is_answered_503_and_the_next_good_write_works() {
    let sink = Sink::start().await;
    let server = small_disk(&sink, "size=6m").start().await;
    server
        .stranger()
        .event("stripe", &large_event("evt_before"))
        .await
        .expect(200);
    sink.wait_for(1).await;

    fill(&server);
    // What the write-ahead log has room for is still taken.
    let mut taken = vec!["evt_before".to_owned()];
    loop {
        let id = format!("evt_{}", taken.len());
        let reply = server.stranger().event("stripe", &large_event(&id)).await;
        if reply.status != 200 {
            break;
        }
        taken.push(id);
        assert!(taken.len() < 100, "the disk is not full");
    }
    both_doors_refuse(&server, "evt_full").await;
    assert_eq!(server.stranger().get("/livez").await.status, 200);

    std::fs::remove_file(on_disk(&server, "filler")).unwrap();
    both_doors_work(&server, &sink, "evt_full").await;
    let arrived = sink.wait_for(taken.len() + 1).await;
    for id in taken {
        let body = large_event(&id).body;
        assert!(
            arrived.iter().any(|arrival| arrival.body == body),
            "{id} was answered 200"
        );
    }
    assert_sound(on_disk(&server, "hookbox.db"));
}

#[tokio::test]
async fn files_that_cannot_be_written_are_answered_503_and_the_next_good_write_works() {
    let sink = Sink::start().await;
    let config = given::source("stripe", &[sign::STRIPE_SECRET], Some(&sink.url("/")));
    // With this signal ignored, a write beyond the limit is an error and not the end.
    let wrapper = ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"];
    let mut server = given::setup()
        .config(&config)
        .wrapped(&wrapper)
        .start()
        .await;
    server
        .stranger()
        .event("stripe", &large_event("evt_before"))
        .await
        .expect(200);
    sink.wait_for(1).await;

    server.set_files_writable(false);
    both_doors_refuse(&server, "evt_readonly").await;
    server.set_files_writable(true);
    both_doors_work(&server, &sink, "evt_readonly").await;

    server.kill9().await;
    assert_sound(server.setup().path("hookbox.db"));
    server.restart().await;
    let again = server
        .stranger()
        .event("stripe", &large_event("evt_readonly"))
        .await
        .expect(200);
    assert_eq!(again["duplicate"], json!(true));
}

#[tokio::test]
async fn a_read_only_disk_is_named_at_the_start() {
    let sink = Sink::start().await;
    let log = small_disk(&sink, "ro")
        .try_start()
        .await
        .expect_err("it cannot start");
    assert!(log.contains("hookbox.db"), "names the file: {log}");
    assert!(!log.contains("panicked"), "{log}");
}

fn assert_sound(database: PathBuf) {
    let database = rusqlite::Connection::open(database).expect("a database");
    let verdict: Value = database
        .query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))
        .expect("a verdict")
        .into();
    assert_eq!(verdict, json!("ok"));
}

/// A disk that fails to keep what it was given may have forgotten it: trying again would mean nothing.
#[tokio::test]
async fn after_a_failed_fsync_nothing_is_taken_for_kept() {
    let setup = given::setup();
    let trace = setup.path("trace").display().to_string();
    let wrapper = [
        "strace",
        "-D",
        "-f",
        "-qq",
        "-o",
        &trace,
        "-e",
        "trace=fdatasync",
        "-e",
        "inject=fdatasync:error=EIO:when=30+",
    ];
    let mut server = setup.wrapped(&wrapper).start().await;
    let mut accepted = Vec::new();
    for number in 0..1000 {
        let app = json!({"name": format!("app {number}"), "uid": format!("app-{number}")});
        let body = full(app.to_string().as_bytes());
        let json = [("content-type".to_owned(), "application/json".to_owned())];
        let client = server.client();
        match client
            .try_send(Method::POST, "/api/v1/app", &json, body)
            .await
        {
            Ok(reply) if reply.status == 201 => accepted.push(number),
            _ => break,
        }
    }
    assert!((1..1000).contains(&accepted.len()), "{}", accepted.len());
    server.restart().await;
    for number in accepted {
        let app = server
            .client()
            .get(&format!("/api/v1/app/app-{number}"))
            .await;
        app.expect(200);
    }
}
