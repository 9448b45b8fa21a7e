//! The embedded default: one `SQLite` file, written by one thread, read by others beside it.
//!
//! WAL with `synchronous=FULL`: a commit is on the disk before anyone is told. One process owns the file,
//! held by a lock beside it, so nothing else can commit behind its back.

mod applications;
mod attempts;
mod claim;
mod contract;
mod deliveries;
mod diagnose;
mod doors;
mod endpoints;
mod event_types;
mod messages;
mod once;
mod queue;
mod readers;
mod record;
mod routes;
mod rows;
mod schema;
mod settle;
mod sources;
mod tokens;
mod upkeep;

mod writer;

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension};

pub use self::diagnose::diagnose;
use self::doors::Doors;
use self::readers::Readers;
use self::writer::{Context, Writer};
use crate::model::Clock;
use crate::store::seal::{KEY_CHECK, Sealer};
use crate::store::{Error, Handoff, Migrate, Result, SchemaError};

/// `SQLite` before this can lose acknowledged commits in WAL mode (the "WAL-reset" bug).
const OLDEST: i32 = 3_051_003;
/// Threads that read beside the writer.
const READERS: usize = 2;

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The linked `SQLite` is one that can lose commits.
    #[error(
        "SQLite {0} can lose commits in WAL mode; build with SQLite 3.51.3 or later (the bundled one is)"
    )]
    OldSqlite(&'static str),
    /// Another process has the file.
    #[error(
        "{0} is in use by another hookbox; stop that one first, or set HOOKBOX_DATABASE to another path"
    )]
    InUse(PathBuf),
    /// The schema is not one to work with.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The secrets in it were sealed with another key.
    #[error(
        "the secrets in this database were sealed with another HOOKBOX_SECRET_KEY; start with that one"
    )]
    OtherKey,
    /// The file cannot be opened or created.
    #[error("cannot open {path}: {error}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// `SQLite` cannot work with the file.
    #[error("cannot use {path} as a database: {error}")]
    Database {
        /// Which.
        path: PathBuf,
        /// Why.
        error: rusqlite::Error,
    },
}

/// Everything in one file.
pub struct SqliteStore {
    // Dropped in this order: the writer closes the last connection, which empties the log into the file.
    readers: Readers,
    writer: Writer,
    doors: Doors,
    sealer: Sealer,
    handoff: Handoff,
    /// Held as long as the store lives.
    _lock: File,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SqliteStore")
    }
}

impl SqliteStore {
    /// Opens the file, creating it when it is not there.
    ///
    /// What a dead process of the same file still held is due again at once.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(
        path: &Path,
        sealer: Sealer,
        handoff: Handoff,
        migrate: Migrate,
    ) -> std::result::Result<Self, OpenError> {
        if rusqlite::version_number() < OLDEST {
            return Err(OpenError::OldSqlite(rusqlite::version()));
        }
        let lock = lock(path)?;
        let database = |error| OpenError::Database {
            path: path.to_owned(),
            error,
        };
        let file = |error| OpenError::File {
            path: path.to_owned(),
            error,
        };
        let mut db = connect(path, false).map_err(database)?;
        schema::migrate(&mut db, migrate)?;
        check_key(&db, &sealer)?;
        db.execute(
            include_str!("sqlite/sql/delivery_recover.sql"),
            [Clock.now()],
        )
        .map_err(database)?;
        let doors = Doors::default();
        doors.renew(&db, &sealer).map_err(|error| match error {
            Error::Unreadable(_) => OpenError::OtherKey,
            other => file(std::io::Error::other(other)),
        })?;
        let readers: Vec<_> = (0..READERS)
            .map(|_| connect(path, true))
            .collect::<rusqlite::Result<_>>()
            .map_err(database)?;
        Ok(Self {
            writer: Writer::start(db, sealer.clone(), handoff.clone(), doors.clone())
                .map_err(file)?,
            readers: Readers::start(readers).map_err(file)?,
            doors,
            sealer,
            handoff,
            _lock: lock,
        })
    }

    async fn write<T, F>(&self, work: F) -> Result<T>
    where
        F: FnOnce(&mut Context<'_>) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.writer.call(work).await
    }

    /// For work that refuses, if at all, before it writes.
    async fn write_checked<T, F>(&self, work: F) -> Result<T>
    where
        F: FnOnce(&mut Context<'_>) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.writer.call_checked(work).await
    }

    async fn read<T, F>(&self, read: F) -> Result<T>
    where
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.readers.call(read).await
    }
}

/// Brings the schema of a file up to date, without serving it; returns how many steps were taken.
///
/// # Errors
/// See [`OpenError`].
pub fn migrate(path: &Path) -> std::result::Result<u32, OpenError> {
    let _lock = lock(path)?;
    let mut db = connect(path, false).map_err(|error| OpenError::Database {
        path: path.to_owned(),
        error,
    })?;
    Ok(schema::migrate(&mut db, Migrate::Always)?)
}

/// Locks the file for this process. The lock is a file of its own, since `SQLite` locks the database itself.
fn lock(path: &Path) -> std::result::Result<File, OpenError> {
    // Two names of one file must meet at one lock.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut name = real.into_os_string();
    name.push(".lock");
    let beside = PathBuf::from(name);
    let file = |error| OpenError::File {
        path: beside.clone(),
        error,
    };
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&beside)
        .map_err(file)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(file(error)),
    }
}

fn connect(path: &Path, reader: bool) -> rusqlite::Result<Connection> {
    let db = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    db.set_prepared_statement_cache_capacity(128);
    db.busy_timeout(Duration::from_secs(5))?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "foreign_keys", true)?;
    db.pragma_update(None, "temp_store", "MEMORY")?;
    // Fewer, larger checkpoints: 32 MiB of log. Kibibytes of page cache when negative.
    db.pragma_update(None, "wal_autocheckpoint", 8192)?;
    db.pragma_update(None, "journal_size_limit", 128 * 1024 * 1024)?;
    db.pragma_update(None, "cache_size", if reader { -4096 } else { -16384 })?;
    if reader {
        db.pragma_update(None, "query_only", true)?;
    }
    Ok(db)
}

/// Refuses another key than the one the database was first opened with.
fn check_key(db: &Connection, sealer: &Sealer) -> std::result::Result<(), OpenError> {
    let error = |error: rusqlite::Error| OpenError::Schema(error.into());
    let known: Option<Vec<u8>> = db
        .query_row("SELECT sealed FROM key_check", [], |row| row.get(0))
        .optional()
        .map_err(error)?;
    match known {
        Some(sealed) => sealer
            .open(KEY_CHECK, &sealed)
            .map(|_| ())
            .map_err(|_| OpenError::OtherKey),
        None => {
            let sealed = sealer.seal(KEY_CHECK, KEY_CHECK);
            db.execute("INSERT INTO key_check (sealed) VALUES (?1)", [sealed])
                .map(|_| ())
                .map_err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linked_sqlite_does_not_lose_commits() {
        assert!(
            rusqlite::version_number() >= OLDEST,
            "{}",
            rusqlite::version()
        );
    }

    #[test]
    fn every_connection_waits_for_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        for reader in [false, true] {
            let db = connect(&path, reader).unwrap();
            let mode: String = db
                .pragma_query_value(None, "journal_mode", |row| row.get(0))
                .unwrap();
            let synchronous: i64 = db
                .pragma_query_value(None, "synchronous", |row| row.get(0))
                .unwrap();
            // 2 is FULL.
            assert_eq!((mode.as_str(), synchronous), ("wal", 2));
        }
    }
}
