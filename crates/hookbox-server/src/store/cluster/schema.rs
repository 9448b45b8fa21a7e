//! The schema: migrations, forward only, by one node at a time.
//!
//! `PostgreSQL` takes back a migration that fails. `MySQL` cannot, so there each statement of one may run twice.

use super::sql::{Dialect, sql};
use super::transaction::{Pool, Transaction};
use super::trouble::{Tried, Trouble};
use crate::model::{Clock, Time};
use crate::store::columns::{Columns as _, Value};
use crate::store::{Error, Migrate, SchemaError};

/// A step of the schema. A step that was released is never changed.
struct Migration {
    name: &'static str,
    version: u32,
    postgres: &'static str,
    mysql: &'static str,
}

const MIGRATIONS: [Migration; 1] = [Migration {
    name: "first",
    version: 1,
    postgres: include_str!("postgres/migrations/0001_first.sql"),
    mysql: include_str!("mysql/migrations/0001_first.sql"),
}];
/// The schema that this program works with.
pub(super) const NEEDED: u32 = MIGRATIONS[MIGRATIONS.len() - 1].version;

/// Tables that are kept by days, and the days that are made ahead.
pub(super) const BY_DAY: [&str; 3] = ["message", "settled", "attempt"];
const AHEAD: i64 = 3;
pub(super) const DAY: i64 = 24 * 60 * 60 * 1000;

/// The schema of a database; zero when it has none.
pub(super) async fn found(open: &mut Transaction) -> Tried<u32> {
    let exists = open.find(sql!("schema_exists"), &[]).await?;
    if !super::applications::says_yes(exists.as_ref())? {
        return Ok(0);
    }
    let row = open.find(sql!("schema_find"), &[]).await?;
    Ok(row.map_or(Ok(0), |row| row.number(0))?)
}

/// Brings the schema to the one that this program needs; returns how many steps were taken.
pub(super) async fn migrate(pool: &Pool, allowed: Migrate) -> Result<u32, SchemaError> {
    let failed = |trouble: Trouble| SchemaError::Database(trouble.into_error().to_string());
    let mut open = pool.begin().await.map_err(|error| failed(error.into()))?;
    let done = match lock(&mut open).await {
        Ok(()) => steps(&mut open, pool.dialect(), allowed).await,
        Err(trouble) => Err(failed(trouble)),
    };
    // PostgreSQL takes no statement after one that failed; its lock ends with the transaction.
    let unlocked = unlock(&mut open).await.map_err(failed);
    let done = done.and_then(|steps| unlocked.map(|()| steps));
    let tried = match &done {
        Ok(_) => Ok(()),
        Err(_) => Err(Trouble::Again("undone".into())),
    };
    let ended = open.end(tried).await;
    match done {
        Ok(steps) => ended.map(|()| steps).map_err(failed),
        Err(error) => Err(error),
    }
}

async fn steps(
    open: &mut Transaction,
    dialect: Dialect,
    allowed: Migrate,
) -> Result<u32, SchemaError> {
    let failed = |trouble: Trouble| SchemaError::Database(trouble.into_error().to_string());
    let found = found(open).await.map_err(failed)?;
    allowed.allows(found, NEEDED)?;
    for migration in MIGRATIONS.iter().filter(|step| step.version > found) {
        let text = match dialect {
            Dialect::Postgres => migration.postgres,
            Dialect::Mysql => migration.mysql,
        };
        let values = [
            Value::from(migration.version),
            migration.name.into(),
            Clock.now().into(),
        ];
        let done = async {
            open.script(text).await?;
            open.execute(sql!("schema_put"), &values).await
        };
        done.await.map_err(|trouble| SchemaError::Failed {
            name: migration.name,
            error: trouble.into_error().to_string(),
        })?;
    }
    Ok(NEEDED - found)
}

/// Waits until no other node changes the schema or the key, and keeps them from it until [`unlock`].
pub(super) async fn lock(open: &mut Transaction) -> Tried<()> {
    let locked = open.find(sql!("schema_lock"), &[]).await?;
    if super::applications::says_yes(locked.as_ref())? {
        return Ok(());
    }
    let why = "another node is at the schema, and does not end";
    Err(Error::Unavailable(why.into()).into())
}

/// Lets the others go on. Called whatever became of the work: `MySQL` keeps the lock for the connection.
pub(super) async fn unlock(open: &mut Transaction) -> Tried<()> {
    open.query(sql!("schema_unlock"), &[]).await.map(|_| ())
}

/// Makes the tables of the next days, where there are such.
pub(super) async fn make_days(pool: &Pool, now: Time) -> Tried<()> {
    if pool.dialect() == Dialect::Mysql {
        return Ok(());
    }
    let mut read = pool.read().await?;
    let known = tables(&mut read).await?;
    let today = now.0.div_euclid(DAY);
    for day in today..=today + AHEAD {
        for table in BY_DAY {
            let name = format!("{table}_{}", day_name(day));
            if known.contains(&name) {
                continue;
            }
            let made = read
                .script(&format!(
                    "SET lock_timeout = '2s'; CREATE TABLE IF NOT EXISTS hookbox.{name} PARTITION OF hookbox.{table} \
                     FOR VALUES FROM ('{}') TO ('{}'); RESET lock_timeout",
                    first_id(day),
                    first_id(day + 1),
                ))
                .await;
            if let Err(trouble) = made {
                // Another node makes it, or the table is busy: there are days to try again.
                tracing::debug!(?trouble, %name, "the table of a day was not made");
            }
        }
    }
    read.end(Ok(())).await
}

/// The tables of days.
async fn tables(read: &mut Transaction) -> Tried<Vec<String>> {
    let rows = read.query(sql!("day_list"), &[]).await?;
    let names = rows.iter().map(|row| row.string(0));
    Ok(names.collect::<crate::store::Result<_>>()?)
}

/// The days that have tables, counted from 1970.
pub(super) async fn days(read: &mut Transaction) -> Tried<Vec<i64>> {
    let days = tables(read).await?.into_iter().filter_map(|name| {
        let digits = name.strip_prefix("message_")?;
        let text = format!(
            "{}-{}-{}T00:00:00Z",
            digits.get(..4)?,
            digits.get(4..6)?,
            digits.get(6..)?
        );
        Some(Time::parse(&text)?.0 / DAY)
    });
    Ok(days.collect())
}

/// What drops the tables of a day. It waits no longer than others may wait for it.
pub(super) fn drop_text(day: i64) -> String {
    let tables = BY_DAY.map(|table| format!("hookbox.{table}_{}", day_name(day)));
    format!(
        "SET LOCAL lock_timeout = '2s'; DROP TABLE IF EXISTS {}",
        tables.join(", ")
    )
}

/// The day as its digits, 20261201.
pub(super) fn day_name(day: i64) -> String {
    Time(day * DAY).to_string()[..10].replace('-', "")
}

/// The first id of a day, as a UUID.
pub(super) fn first_id(day: i64) -> uuid::Uuid {
    uuid::Uuid::from_bytes(crate::model::MessageId::first_at(Time(day * DAY)).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_a_name_and_a_first_id() {
        let day = Time::parse("2026-12-01T00:00:00Z").unwrap().0 / DAY;
        assert_eq!(day_name(day), "20261201");
        assert!(first_id(day) < first_id(day + 1));
        let late = crate::model::MessageId::new(Time((day + 1) * DAY - 1));
        assert!(uuid::Uuid::from_bytes(late.0) < first_id(day + 1));
        assert!(uuid::Uuid::from_bytes(late.0) >= first_id(day));
    }
}
