//! Judging what a database server tells of its own settings.

use super::codes::{
    AUTOVACUUM, CHECKPOINTS, CONNECTIONS, DAYS, DURABILITY, PACKET, PROXY, READ_ONLY, SESSION,
    TRANSACTIONS,
};
use super::finding::{Finding, Level, counted};
use crate::store::diagnosis::{Days, Diagnosis, KeyFit, OldTransactions};

/// The largest event of GitHub, with what stands around it.
const LARGEST_PACKET: u64 = 32 << 20;
/// In MiB.
const FEW_LOG: u64 = 1024;

/// The settings of `PostgreSQL`.
pub(super) fn postgres(found: &Diagnosis) -> Vec<Finding> {
    let mut findings = read_only(
        found,
        &[
            "in_recovery",
            "default_transaction_read_only",
            "no right to write",
        ],
    );
    findings.extend(durability(
        found,
        &[
            ("synchronous_commit", &["off"], Level::Error),
            ("fsync", &["off"], Level::Error),
            ("full_page_writes", &["off"], Level::Warning),
        ],
    ));
    findings.extend(connections(found));
    findings.extend(transactions(found.transactions));
    findings.extend(setting(found, "autovacuum").map(|value| match value {
        "off" => AUTOVACUUM.warning("autovacuum is off"),
        _ => AUTOVACUUM.ok("autovacuum is on"),
    }));
    findings.extend(number(found, "max_wal_size").map(|size| {
        let said = format!("max_wal_size is {size} MB");
        match size < FEW_LOG {
            true => CHECKPOINTS.note(said),
            false => CHECKPOINTS.ok(said),
        }
    }));
    findings.push(match found.direct {
        true => PROXY.ok("none stands in front"),
        false => PROXY.note("one stands in front that may give each transaction another server"),
    });
    // They are made at the first start.
    let days_of = found.days.iter().filter(|_| found.key != KeyFit::Unused);
    findings.extend(days_of.flat_map(days));
    findings
}

/// The settings of `MySQL` and `MariaDB`.
pub(super) fn mysql(found: &Diagnosis) -> Vec<Finding> {
    let mut findings = read_only(found, &["read_only"]);
    let log: &[Fault] = match setting(found, "log_bin") {
        Some("on") if number(found, "sync_binlog") != Some(1) => {
            &[("sync_binlog", &[], Level::Warning)]
        }
        _ => &[],
    };
    let faults: [Fault; 2] = [
        (
            "innodb_flush_log_at_trx_commit",
            &["0", "2", "3"],
            Level::Error,
        ),
        ("innodb_doublewrite", &["off"], Level::Warning),
    ];
    findings.extend(durability(found, &[&faults, log].concat()));
    findings.extend(connections(found));
    findings.extend(transactions(found.transactions));
    findings.extend(session(found));
    findings.extend(number(found, "max_allowed_packet").map(|bytes| {
        let said = format!("max_allowed_packet is {} MiB", bytes >> 20);
        match bytes < LARGEST_PACKET {
            true => PACKET.warning(said),
            false => PACKET.ok(said),
        }
    }));
    findings
}

fn setting<'a>(found: &'a Diagnosis, name: &str) -> Option<&'a str> {
    found.settings.get(name).map(String::as_str)
}

fn number(found: &Diagnosis, name: &str) -> Option<u64> {
    setting(found, name)?.parse().ok()
}

fn read_only(found: &Diagnosis, names: &[&str]) -> Vec<Finding> {
    let on = names
        .iter()
        .filter(|name| setting(found, name) == Some("on"));
    on.map(|name| READ_ONLY.error(format!("{name} is on")))
        .collect()
}

/// A setting, the values of it that are bad (any, when there are none), and how bad.
type Fault = (&'static str, &'static [&'static str], Level);

fn durability(found: &Diagnosis, faults: &[Fault]) -> Vec<Finding> {
    let bad = faults.iter().filter_map(|(name, values, level)| {
        let value = setting(found, name)?;
        (values.is_empty() || values.contains(&value)).then(|| {
            let said = format!("{name} is {value}");
            match level {
                Level::Error => DURABILITY.error(said),
                Level::Ok | Level::Note | Level::Warning => DURABILITY.warning(said),
            }
        })
    });
    let bad: Vec<_> = bad.collect();
    let known = faults
        .iter()
        .any(|(name, ..)| setting(found, name).is_some());
    if bad.is_empty() && known {
        return vec![DURABILITY.ok("a commit is on the disk when the database says so")];
    }
    bad
}

fn connections(found: &Diagnosis) -> Option<Finding> {
    let most = number(found, "max_connections")?;
    let reserved = number(found, "superuser_reserved_connections").unwrap_or(0);
    let (room, needed) = (most.saturating_sub(reserved), found.connections);
    let said = format!("it takes {room}, and each node makes up to {needed}");
    Some(
        match usize::try_from(room).is_ok_and(|room| room < needed) {
            true => CONNECTIONS.warning(said),
            false => CONNECTIONS.ok(said),
        },
    )
}

fn transactions(old: Option<OldTransactions>) -> Option<Finding> {
    let old = old?;
    Some(match old.count {
        0 => TRANSACTIONS.ok("none is open for more than 5 minutes"),
        count => TRANSACTIONS.warning(format!(
            "{} open for more than 5 minutes, the oldest for {} minutes",
            counted(count, "transaction is", "transactions are"),
            old.oldest.as_secs() / 60
        )),
    })
}

fn session(found: &Diagnosis) -> Option<Finding> {
    let (mode, isolation) = (setting(found, "sql_mode")?, setting(found, "isolation")?);
    Some(if !mode.contains("STRICT_ALL_TABLES") {
        SESSION.warning("strict mode is off: values could be cut to fit")
    } else if isolation != "READ-COMMITTED" {
        SESSION.warning(format!("the isolation is {isolation}"))
    } else {
        SESSION.ok("strict mode, READ COMMITTED")
    })
}

fn days(days: &Days) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !days.missing.is_empty() {
        findings.push(DAYS.warning(format!("there is no {}", days.missing.join(", "))));
    }
    if !days.strays.is_empty() {
        let strays = days.strays.join(", ");
        findings.push(DAYS.note(format!("rows without a table of their day: {strays}")));
    }
    if findings.is_empty() {
        findings.push(DAYS.ok("today and the next two days have their tables"));
    }
    findings
}

#[cfg(test)]
mod tests;
