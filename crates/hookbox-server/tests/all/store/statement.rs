//! The statements of every driver: each is used, is understood by its database, and finds its way by an index.

use std::collections::BTreeMap;
use std::path::Path;

use super::database::TestDatabase;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/sqlite");

fn statements() -> BTreeMap<String, String> {
    let folder = std::fs::read_dir(Path::new(SOURCE).join("sql")).unwrap();
    folder
        .map(|entry| {
            let path = entry.unwrap().path();
            (
                path.file_name().unwrap().to_str().unwrap().to_owned(),
                std::fs::read_to_string(path).unwrap(),
            )
        })
        .collect()
}

async fn database() -> (TestDatabase, rusqlite::Connection) {
    let db = TestDatabase::sqlite().await;
    db.close();
    let connection = rusqlite::Connection::open(db.folder().join("test.db")).unwrap();
    (db, connection)
}

#[tokio::test]
async fn every_statement_is_understood() {
    let (_db, connection) = database().await;
    for (name, sql) in statements() {
        let prepared = connection.prepare(&sql).map(|_| ());
        assert!(prepared.is_ok(), "{name}: {prepared:?}");
    }
}

/// The statements of a database that nodes share.
fn shared(dialect: &str) -> BTreeMap<String, String> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/cluster");
    let folder = std::fs::read_dir(Path::new(source).join(dialect).join("sql")).unwrap();
    folder
        .map(|entry| {
            let path = entry.unwrap().path();
            (
                path.file_stem().unwrap().to_str().unwrap().to_owned(),
                std::fs::read_to_string(path).unwrap(),
            )
        })
        .collect()
}

#[test]
fn shared_databases_have_the_same_statements_and_each_is_used() {
    let (postgres, mysql) = (shared("postgres"), shared("mysql"));
    assert!(postgres.keys().eq(mysql.keys()));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/cluster");
    let sources: String = std::fs::read_dir(source)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    for name in postgres.keys() {
        let used = sources.contains(&format!("sql!(\"{name}\")"));
        assert!(used, "{name} is used nowhere");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_statement_is_understood_by_postgres() {
    let db = TestDatabase::postgres().await;
    let (client, connection) = tokio_postgres::connect(db.url(), tokio_postgres::NoTls)
        .await
        .unwrap();
    let driver = tokio::spawn(connection);
    for (name, sql) in shared("postgres") {
        let prepared = client.prepare(&sql).await;
        assert!(prepared.is_ok(), "{name}: {prepared:?}");
    }
    drop(client);
    let _ = driver.await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_statement_is_understood_by_mysql() {
    use mysql_async::prelude::Queryable as _;
    let db = TestDatabase::mysql().await;
    let mut connection = mysql_async::Conn::from_url(db.url()).await.unwrap();
    for (name, sql) in shared("mysql") {
        // As the driver writes it for one row.
        let plain = sql.replace(['{', '}'], "");
        let mut parts = plain.split('?');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            text += "?";
            text += part.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        let prepared = connection.prep(text).await;
        assert!(prepared.is_ok(), "{name}: {prepared:?}");
    }
    connection.disconnect().await.unwrap();
}

#[test]
fn every_statement_is_used() {
    let files = std::fs::read_dir(SOURCE)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let sources: String = files
        .chain([Path::new(SOURCE).with_extension("rs")])
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    for name in statements().keys() {
        assert!(
            sources.contains(&format!("sql/{name}\"")),
            "{name} is used nowhere"
        );
    }
}

#[tokio::test]
async fn no_frequent_statement_reads_a_whole_table() {
    let (_db, connection) = database().await;
    let statements = statements();
    for name in [
        "attempt_of_endpoint.sql",
        "attempt_of_message.sql",
        "attempt_find.sql",
        "delivery_due.sql",
        "delivery_figures.sql",
        "delivery_lease.sql",
        "delivery_list.sql",
        "delivery_next_endpoint.sql",
        "delivery_settle.sql",
        "delivery_hold.sql",
        "delivery_free.sql",
        "delivery_cancel.sql",
        "delivery_dead.sql",
        "idempotency_find.sql",
        "idempotency_expire.sql",
        "message_by_id.sql",
        "message_find.sql",
        "message_list.sql",
        "receipt_find.sql",
        "receipt_list.sql",
        "receipt_again.sql",
    ] {
        let mut plan = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {}", statements[name]))
            .unwrap();
        let count = plan.parameter_count();
        let steps = plan
            .query_map(
                rusqlite::params_from_iter(vec![rusqlite::types::Null; count]),
                |row| row.get::<_, String>(3),
            )
            .unwrap();
        for step in steps.map(Result::unwrap) {
            // Going through an index in its order, or through a list that was handed in, is no scan of a table.
            let whole =
                step.starts_with("SCAN") && !step.contains("INDEX") && !step.contains("json_each");
            assert!(!whole, "{name}: {step}");
        }
    }
}
