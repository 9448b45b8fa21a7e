//! The schema of an `SQLite` database: migrations, forward only, each in one transaction.

use rusqlite::{Connection, TransactionBehavior};

use crate::store::{Migrate, SchemaError};

/// A step of the schema. A step that was released is never changed.
struct Migration {
    name: &'static str,
    version: u32,
    sql: &'static str,
}

const MIGRATIONS: [Migration; 1] = [Migration {
    name: "first",
    version: 1,
    sql: include_str!("migrations/0001_first.sql"),
}];
/// The schema that this program works with.
pub(super) const NEEDED: u32 = MIGRATIONS[MIGRATIONS.len() - 1].version;

/// Marks a file as Hookbox's, in the header of the database: "hkbx".
pub(super) const APPLICATION_ID: i32 = 0x686b_6278;

/// Brings the schema to the one this program needs; returns how many steps were taken.
pub(super) fn migrate(db: &mut Connection, migrate: Migrate) -> Result<u32, SchemaError> {
    let needed = NEEDED;
    let found: u32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let owner: i32 = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables > 0 && owner != APPLICATION_ID {
        return Err(SchemaError::Foreign);
    }
    migrate.allows(found, needed)?;
    for migration in MIGRATIONS
        .iter()
        .filter(|migration| migration.version > found)
    {
        apply(db, migration).map_err(|error| SchemaError::Failed {
            name: migration.name,
            error: error.to_string(),
        })?;
    }
    Ok(needed - found)
}

impl From<rusqlite::Error> for SchemaError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error.to_string())
    }
}

fn apply(db: &mut Connection, migration: &Migration) -> rusqlite::Result<()> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(migration.sql)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", migration.version)?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_an_empty_database_once() {
        let mut db = Connection::open_in_memory().unwrap();
        assert_eq!(migrate(&mut db, Migrate::IfEmpty).unwrap(), NEEDED);
        assert_eq!(migrate(&mut db, Migrate::IfEmpty).unwrap(), 0);
    }

    #[test]
    fn refuses_a_newer_schema_and_a_foreign_file() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, Migrate::IfEmpty).unwrap();
        db.pragma_update(None, "user_version", 99).unwrap();
        assert!(matches!(
            migrate(&mut db, Migrate::Always),
            Err(SchemaError::Newer { found: 99, .. })
        ));

        let mut other = Connection::open_in_memory().unwrap();
        other.execute_batch("CREATE TABLE theirs (x)").unwrap();
        assert!(matches!(
            migrate(&mut other, Migrate::Always),
            Err(SchemaError::Foreign)
        ));
    }
}
