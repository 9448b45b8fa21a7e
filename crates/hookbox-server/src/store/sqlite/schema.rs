//! The schema of an `SQLite` database: migrations, forward only, each in one transaction.

use rusqlite::{Connection, TransactionBehavior};

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
const NEEDED: u32 = MIGRATIONS[MIGRATIONS.len() - 1].version;

/// Marks a file as Hookbox's, in the header of the database: "hkbx".
pub(super) const APPLICATION_ID: i32 = 0x686b_6278;

/// What a start may do to the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Migrate {
    /// Fill an empty database; refuse an older one.
    IfEmpty,
    /// Bring an older database up to date.
    Always,
}

/// Why the schema is not one to work with.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The database is older than this program.
    #[error(
        "the database has schema {found}, this version needs {needed}; run `hookbox migrate`, or `hookbox serve --migrate`"
    )]
    Older {
        /// Its schema.
        found: u32,
        /// The schema of this program.
        needed: u32,
    },
    /// The database is newer than this program.
    #[error(
        "the database has schema {found}, this version knows only up to {known}; run the newer hookbox that wrote it"
    )]
    Newer {
        /// Its schema.
        found: u32,
        /// The newest schema that this program knows.
        known: u32,
    },
    /// The file is an `SQLite` database of another program.
    #[error("the file is a database of another program; set HOOKBOX_DATABASE to another path")]
    Foreign,
    /// A migration failed; nothing of it was kept.
    #[error("migration {name} failed: {error}")]
    Failed {
        /// Which.
        name: &'static str,
        /// How.
        error: rusqlite::Error,
    },
    /// The database cannot be read.
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
}

/// Brings the schema to the one this program needs; returns how many steps were taken.
pub(super) fn migrate(db: &mut Connection, migrate: Migrate) -> Result<u32, SchemaError> {
    let needed = NEEDED;
    let found: u32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let owner: i32 = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables > 0 && owner != APPLICATION_ID {
        return Err(SchemaError::Foreign);
    }
    if found > needed {
        return Err(SchemaError::Newer {
            found,
            known: needed,
        });
    }
    if found > 0 && found < needed && migrate == Migrate::IfEmpty {
        return Err(SchemaError::Older { found, needed });
    }
    for migration in MIGRATIONS
        .iter()
        .filter(|migration| migration.version > found)
    {
        apply(db, migration).map_err(|error| SchemaError::Failed {
            name: migration.name,
            error,
        })?;
    }
    Ok(needed - found)
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
