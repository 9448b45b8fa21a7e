//! Looking at a database without using it: nothing is written, nothing migrated, no lock taken.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::schema::{APPLICATION_ID, NEEDED};
use super::{OLDEST, OpenError, queue, sources};
use crate::model::{Clock, Time};
use crate::store::diagnosis::{Diagnosis, Endpoints, KeyFit, Place, Product, Sources};
use crate::store::seal::Sealer;
use crate::store::{QueueFigures, Result};

/// What a check of all pages says when all is well.
const SOUND: &str = "ok";

/// Looks at the file, whether or not a server has it open. A `deep` look reads all of it.
///
/// # Errors
/// The file is there and cannot be read as a database. Whatever else fails is among what was found.
pub fn diagnose(
    path: &Path,
    sealer: Option<&Sealer>,
    deep: bool,
) -> std::result::Result<Diagnosis, OpenError> {
    let mut place = place(path);
    let mut found = Diagnosis {
        version: rusqlite::version().to_owned(),
        too_old: rusqlite::version_number() < OLDEST,
        needed: NEEDED,
        ..Diagnosis::of(Product::Sqlite)
    };
    if place.file {
        let failed = |error| OpenError::Database {
            path: path.to_owned(),
            error,
        };
        let began = Instant::now();
        let db = connect(path).map_err(failed)?;
        read(&db, sealer, &mut found).map_err(failed)?;
        found.took = began.elapsed();
        if deep {
            place.damage = found.keep("all pages", check(&db));
        }
    }
    if !place.file {
        found.schema = Some(0);
    }
    found.place = Some(place);
    Ok(found)
}

/// A connection that cannot write, not even when it is closed.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let in_use = ["-wal", "-shm"].map(|end| beside(path, end).exists());
    let db = if in_use.contains(&true) {
        Connection::open_with_flags(path, flags)?
    } else {
        // Nobody has it open. Reading it like this makes no files beside it, which could then be another user's.
        flags |= OpenFlags::SQLITE_OPEN_URI;
        Connection::open_with_flags(unchanging(path), flags)?
    };
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    db.busy_timeout(Duration::from_secs(5))?;
    db.pragma_update(None, "query_only", true)?;
    Ok(db)
}

/// The path as an address that says the file does not change meanwhile.
fn unchanging(path: &Path) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut address = String::from("file:");
    for byte in real.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => address.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(*byte)),
            byte => address += &format!("%{byte:02x}"),
        }
    }
    address + "?immutable=1"
}

fn read(db: &Connection, sealer: Option<&Sealer>, found: &mut Diagnosis) -> rusqlite::Result<()> {
    let owner: i32 = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    found.schema = Some(db.pragma_query_value(None, "user_version", |row| row.get(0))?);
    found.foreign = tables > 0 && owner != APPLICATION_ID;
    if found.foreign {
        return Ok(());
    }
    if let (Some(sealer), Some(1..)) = (sealer, found.schema) {
        found.key = found
            .keep("the key check", key(db, sealer))
            .unwrap_or_default();
    }
    if found.is_current() {
        let now = Clock.now();
        let figures = found.keep("the queue", figures(db, now));
        found.queue = figures.map(|figures| (figures, now));
        let sealer = sealer.filter(|_| found.key == KeyFit::Same);
        found.sources = found.keep("the sources", doors(db, sealer));
        found.endpoints = found.keep("the endpoints", endpoints(db));
    }
    Ok(())
}

fn key(db: &Connection, sealer: &Sealer) -> Result<KeyFit> {
    let sealed: Option<Vec<u8>> = db
        .query_row("SELECT sealed FROM key_check", [], |row| row.get(0))
        .optional()?;
    Ok(KeyFit::of(sealer, sealed.as_deref()))
}

fn figures(db: &Connection, now: Time) -> Result<QueueFigures> {
    let text = include_str!("sql/delivery_figures.sql");
    Ok(db.query_row(text, [now], queue::figures)?)
}

fn doors(db: &Connection, sealer: Option<&Sealer>) -> Result<Sources> {
    let Some(sealer) = sealer else {
        let text = "SELECT count(*) FROM source WHERE deleted_at IS NULL";
        let count: i64 = db.query_row(text, [], |row| row.get(0))?;
        return Ok(Sources {
            count: usize::try_from(count).unwrap_or_default(),
            without_secret: Vec::new(),
        });
    };
    let all = sources::all(db, sealer)?;
    Ok(Sources {
        count: all.len(),
        without_secret: all
            .into_iter()
            .filter(|source| source.secrets.is_empty())
            .map(|source| source.name)
            .collect(),
    })
}

fn endpoints(db: &Connection) -> Result<Endpoints> {
    let mut endpoints = Endpoints::default();
    let mut statement = db.prepare(include_str!("sql/diagnose_endpoints.sql"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let disabled: Option<String> = row.get(0)?;
        let count: i64 = row.get(1)?;
        endpoints.add(
            disabled.as_deref(),
            u64::try_from(count).unwrap_or_default(),
        );
    }
    let mut statement = db.prepare(include_str!("sql/diagnose_forward.sql"))?;
    let urls = statement.query_map([], |row| row.get(0))?;
    endpoints.forward = urls.collect::<rusqlite::Result<_>>()?;
    Ok(endpoints)
}

/// Reads all pages; returns what is wrong with them.
fn check(db: &Connection) -> Result<Vec<String>> {
    let mut statement = db.prepare("PRAGMA quick_check(10)")?;
    let said = statement.query_map([], |row| row.get(0))?;
    let said: Vec<String> = said.collect::<rusqlite::Result<_>>()?;
    Ok(said.into_iter().filter(|line| line != SOUND).collect())
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn place(path: &Path) -> Place {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let log = std::fs::metadata(beside(&real, "-wal"));
    // What is no disk tells of no blocks.
    let free = rustix::fs::statvfs(folder)
        .ok()
        .filter(|disk| disk.f_blocks > 0);
    Place {
        folder: folder.is_dir(),
        file: real.exists(),
        log_bytes: log.map_or(0, |log| log.len()),
        free_bytes: free.map(|free| free.f_bavail.saturating_mul(free.f_frsize)),
        network: network(folder),
        damage: None,
    }
}

/// The network file system that a folder lies on: locks and mapped files do not hold on it.
#[cfg(target_os = "linux")]
fn network(folder: &Path) -> Option<&'static str> {
    let kind = rustix::fs::statfs(folder).ok()?.f_type;
    match u32::try_from(kind & 0xffff_ffff).ok()? {
        0x0000_6969 => Some("NFS"),
        0xff53_4d42 | 0xfe53_4d42 | 0x0000_517b => Some("SMB"),
        0x0102_1997 => Some("9P"),
        0x00c3_6400 => Some("CephFS"),
        0x5346_414f => Some("AFS"),
        _ => None,
    }
}

#[cfg(not(target_os = "linux"))]
fn network(_folder: &Path) -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_is_an_address() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b?c#d%e&é.db");
        let db = Connection::open(&path).unwrap();
        db.execute_batch("CREATE TABLE here (x)").unwrap();
        drop(db);
        let db = connect(&path).unwrap();
        assert!(db.prepare("SELECT x FROM here").is_ok());
        assert!(db.execute_batch("CREATE TABLE more (x)").is_err());
    }

    #[test]
    fn a_look_leaves_no_trace() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let listed = || {
            let mut files: Vec<_> = std::fs::read_dir(folder.path())
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .map(|path| (path.clone(), std::fs::read(path).unwrap()))
                .filter(|(path, _)| !path.to_string_lossy().ends_with("-shm"))
                .collect();
            files.sort();
            files
        };
        assert_eq!(diagnose(&path, None, true).unwrap().schema, Some(0));
        assert_eq!(listed(), []);
        crate::store::sqlite::migrate(&path).unwrap();
        // At rest, and as a process that was killed leaves it.
        let before = listed();
        assert_eq!(diagnose(&path, None, true).unwrap().schema, Some(NEEDED));
        assert_eq!(listed(), before);
        let db = crate::store::sqlite::connect(&path, false).unwrap();
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .unwrap();
        db.execute_batch("CREATE TABLE more (x)").unwrap();
        drop(db);
        let before = listed();
        assert!(before.iter().any(|(path, bytes)| {
            path.to_string_lossy().ends_with("-wal") && !bytes.is_empty()
        }));
        let found = diagnose(&path, None, true).unwrap();
        assert_eq!(found.place.unwrap().damage, Some(Vec::new()));
        assert_eq!(listed(), before);
    }
}
