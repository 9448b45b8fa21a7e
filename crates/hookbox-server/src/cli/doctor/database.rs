//! Judging what every database tells: whether it can be worked with.

use super::codes::{CLOCK, FOREIGN, KEY_FIT, NEWER, OLDER, REACHABLE, SCHEMA, UNREAD, VERSION};
use super::finding::{Discreet, Finding};
use super::{queue, server, sqlite};
use crate::store::diagnosis::{Diagnosis, KeyFit, Product};

/// Clocks that differ by less are the same; in milliseconds.
const SAME: u64 = 1000;
/// Signatures begin to be refused when a clock is minutes off; in milliseconds.
const FAR: u64 = 30_000;

/// Everything that a database told.
pub(super) fn judge(found: &Diagnosis, discreet: &Discreet) -> Vec<Finding> {
    let mut findings = vec![reachable(found), version(found)];
    findings.extend(schema(found));
    findings.extend(key(found));
    match found.product {
        Product::Sqlite => findings.extend(found.place.iter().flat_map(sqlite::judge)),
        Product::Postgres => findings.extend(server::postgres(found)),
        Product::Mysql | Product::Mariadb => findings.extend(server::mysql(found)),
    }
    findings.push(clock(found.ahead_ms));
    findings.extend(queue::judge(found));
    let unread = found.unread.iter();
    findings.extend(
        unread.map(|(what, error)| UNREAD.warning(format!("{what}: {}", discreet.text(error)))),
    );
    findings
}

/// A database by its name and version.
fn name(found: &Diagnosis) -> String {
    let name = match found.product {
        Product::Sqlite => "SQLite",
        Product::Postgres => "PostgreSQL",
        Product::Mysql => "MySQL",
        Product::Mariadb => "MariaDB",
    };
    format!("{name} {}", found.version)
}

fn reachable(found: &Diagnosis) -> Finding {
    match &found.place {
        Some(place) if !place.file => REACHABLE.ok("there is no file yet"),
        _ => REACHABLE.ok(format!("it answered within {} ms", found.took.as_millis())),
    }
}

fn version(found: &Diagnosis) -> Finding {
    match found.too_old {
        true => VERSION.error(format!("{} is too old", name(found))),
        false => VERSION.ok(name(found)),
    }
}

fn schema(found: &Diagnosis) -> Option<Finding> {
    let (schema, needed) = (found.schema?, found.needed);
    Some(match schema {
        _ if found.foreign => FOREIGN.error("its tables are not Hookbox's"),
        0 => SCHEMA.note("there is none yet"),
        _ if schema < needed => {
            OLDER.error(format!("it has {schema}, this version needs {needed}"))
        }
        _ if schema > needed => {
            NEWER.error(format!("it has {schema}, this version knows {needed}"))
        }
        _ => SCHEMA.ok(format!("it is {schema}, as this version needs")),
    })
}

fn key(found: &Diagnosis) -> Option<Finding> {
    match found.key {
        KeyFit::Untried => None,
        KeyFit::Unused => Some(KEY_FIT.ok("nothing was sealed yet")),
        KeyFit::Same => Some(KEY_FIT.ok("it is the one that the secrets were sealed with")),
        KeyFit::Other => Some(KEY_FIT.error("the secrets were sealed with another key")),
    }
}

fn clock(ahead_ms: Option<i64>) -> Finding {
    let Some(ahead) = ahead_ms else {
        return CLOCK.ok("the database has no clock of its own");
    };
    let way = if ahead < 0 { "behind" } else { "ahead of" };
    let off = ahead.unsigned_abs();
    let said = format!("the database's is {off} ms {way} this machine's");
    match (off > SAME, off > FAR) {
        (_, true) => CLOCK.warning(said),
        (true, false) => CLOCK.note(said),
        (false, false) => CLOCK.ok(said),
    }
}

/// A database that is as it should be.
#[cfg(test)]
pub(super) fn healthy(product: Product) -> Diagnosis {
    Diagnosis {
        schema: Some(3),
        needed: 3,
        key: KeyFit::Same,
        ..Diagnosis::of(product)
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::schema as schema_of;
    use super::*;

    #[test]
    fn the_schema_is_judged() {
        let table = [
            (0, false, "database.schema", Level::Note),
            (2, false, "database.schema_older", Level::Error),
            (3, false, "database.schema", Level::Ok),
            (4, false, "database.schema_newer", Level::Error),
            (0, true, "database.foreign", Level::Error),
        ];
        for (schema, foreign, code, level) in table {
            let found = Diagnosis {
                schema: Some(schema),
                foreign,
                ..healthy(Product::Sqlite)
            };
            let finding = schema_of(&found).map(|finding| (finding.code.name, finding.level));
            assert_eq!(finding, Some((code, level)));
        }
        let unread = Diagnosis {
            schema: None,
            ..healthy(Product::Sqlite)
        };
        assert!(schema_of(&unread).is_none());
    }

    #[test]
    fn the_clock_is_judged_both_ways() {
        let table = [
            (None, Level::Ok),
            (Some(900), Level::Ok),
            (Some(-900), Level::Ok),
            (Some(1001), Level::Note),
            (Some(-30_000), Level::Note),
            (Some(-30_001), Level::Warning),
        ];
        for (ahead, level) in table {
            assert_eq!(clock(ahead).level, level, "{ahead:?}");
        }
        assert!(clock(Some(-5)).found.contains("5 ms behind"));
    }

    #[test]
    fn a_key_and_a_version_are_judged() {
        let table = [
            (KeyFit::Untried, None),
            (KeyFit::Unused, Some(Level::Ok)),
            (KeyFit::Same, Some(Level::Ok)),
            (KeyFit::Other, Some(Level::Error)),
        ];
        for (fit, level) in table {
            let found = Diagnosis {
                key: fit,
                ..healthy(Product::Sqlite)
            };
            assert_eq!(key(&found).map(|finding| finding.level), level, "{fit:?}");
        }
        let old = Diagnosis {
            too_old: true,
            ..healthy(Product::Mysql)
        };
        assert_eq!(version(&old).level, Level::Error);
    }

    #[test]
    fn what_could_not_be_read_is_told_without_secrets() {
        let found = Diagnosis {
            unread: vec![("the queue", "denied to canary".into())],
            ..healthy(Product::Postgres)
        };
        let findings = judge(&found, &Discreet::new(vec!["canary".into()]));
        let unread = findings
            .iter()
            .find(|finding| finding.code.name == "database.unread");
        assert_eq!(
            unread.map(|f| f.found.as_str()),
            Some("the queue: denied to ***")
        );
    }
}
