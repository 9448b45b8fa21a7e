use std::time::Duration;

use super::super::database::healthy;
use super::*;
use crate::store::diagnosis::Product;

const POSTGRES: &[(&str, &str)] = &[
    ("fsync", "on"),
    ("full_page_writes", "on"),
    ("synchronous_commit", "on"),
    ("autovacuum", "on"),
    ("max_wal_size", "1024"),
    ("max_connections", "100"),
    ("superuser_reserved_connections", "3"),
    ("in_recovery", "off"),
];
const MYSQL: &[(&str, &str)] = &[
    ("innodb_flush_log_at_trx_commit", "1"),
    ("innodb_doublewrite", "on"),
    ("log_bin", "on"),
    ("sync_binlog", "1"),
    ("read_only", "off"),
    ("max_allowed_packet", "67108864"),
    ("max_connections", "151"),
    ("sql_mode", "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION"),
    ("isolation", "READ-COMMITTED"),
];

fn database(product: Product, settings: &[(&str, &str)], changed: &[(&str, &str)]) -> Diagnosis {
    let settings = settings.iter().chain(changed);
    Diagnosis {
        connections: 16,
        settings: settings
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..healthy(product)
    }
}

fn bad(findings: &[Finding]) -> Vec<(&'static str, Level)> {
    let bad = findings.iter().filter(|finding| finding.level > Level::Ok);
    bad.map(|finding| (finding.code.name, finding.level))
        .collect()
}

type Case = (
    &'static [(&'static str, &'static str)],
    &'static [(&'static str, Level)],
);

#[test]
fn settings_of_postgres_are_judged() {
    use Level::{Error, Note, Warning};
    let table: [Case; 10] = [
        (&[], &[]),
        (
            &[("synchronous_commit", "off")],
            &[("database.durability", Error)],
        ),
        (&[("synchronous_commit", "local")], &[]),
        (&[("fsync", "off")], &[("database.durability", Error)]),
        (
            &[("full_page_writes", "off")],
            &[("database.durability", Warning)],
        ),
        (
            &[("autovacuum", "off")],
            &[("database.autovacuum", Warning)],
        ),
        (
            &[("max_wal_size", "1023")],
            &[("database.checkpoint_distance", Note)],
        ),
        (
            &[("max_connections", "18")],
            &[("database.connections", Warning)],
        ),
        (&[("in_recovery", "on")], &[("database.read_only", Error)]),
        (
            &[("no right to write", "on")],
            &[("database.read_only", Error)],
        ),
    ];
    for (changed, expected) in table {
        let found = database(Product::Postgres, POSTGRES, changed);
        assert_eq!(bad(&postgres(&found)), expected, "{changed:?}");
    }
    let proxied = Diagnosis {
        direct: false,
        ..database(Product::Postgres, POSTGRES, &[])
    };
    assert_eq!(bad(&postgres(&proxied)), [("database.proxy", Note)]);
}

#[test]
fn settings_of_mysql_are_judged() {
    use Level::{Error, Warning};
    let table: [Case; 10] = [
        (&[], &[]),
        (
            &[("innodb_flush_log_at_trx_commit", "2")],
            &[("database.durability", Error)],
        ),
        (
            &[("innodb_doublewrite", "off")],
            &[("database.durability", Warning)],
        ),
        (&[("sync_binlog", "0")], &[("database.durability", Warning)]),
        (&[("sync_binlog", "0"), ("log_bin", "off")], &[]),
        (
            &[("max_allowed_packet", "16777216")],
            &[("database.packet", Warning)],
        ),
        (&[("sql_mode", "")], &[("database.session", Warning)]),
        (
            &[("isolation", "REPEATABLE-READ")],
            &[("database.session", Warning)],
        ),
        (&[("read_only", "on")], &[("database.read_only", Error)]),
        (
            &[("max_connections", "15")],
            &[("database.connections", Warning)],
        ),
    ];
    for (changed, expected) in table {
        let found = database(Product::Mariadb, MYSQL, changed);
        assert_eq!(bad(&mysql(&found)), expected, "{changed:?}");
    }
}

#[test]
fn open_transactions_and_days_are_judged() {
    let old = |count| {
        let oldest = Duration::from_secs(600);
        transactions(Some(OldTransactions { count, oldest })).map(|finding| finding.level)
    };
    assert_eq!((old(0), old(1)), (Some(Level::Ok), Some(Level::Warning)));
    assert!(transactions(None).is_none());

    let level = |missing: &[&str], strays: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let findings = days(&Days {
            missing: owned(missing),
            strays: owned(strays),
        });
        findings.iter().map(|finding| finding.level).max()
    };
    assert_eq!(level(&[], &[]), Some(Level::Ok));
    assert_eq!(level(&[], &["message_other"]), Some(Level::Note));
    assert_eq!(
        level(&["attempt_20260101"], &["message_other"]),
        Some(Level::Warning)
    );
}
