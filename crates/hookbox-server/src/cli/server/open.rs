//! Opening the store that the settings name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::settings::{Database, Roles, Settings};
use crate::store::cluster::ClusterStore;
use crate::store::seal::Sealer;
use crate::store::sqlite::SqliteStore;
use crate::store::{Handoff, Migrate, Store};

/// Opens the store that the settings name.
pub(super) async fn store(
    settings: &Settings,
    handoff: Handoff,
    migrate: Migrate,
) -> anyhow::Result<Arc<dyn Store>> {
    match &settings.database {
        Database::Sqlite(path) => {
            if settings.roles != Roles::ALL {
                bail!(
                    "an SQLite database has one process, which does everything; leave out HOOKBOX_ROLE"
                );
            }
            let key = match settings.secret_key {
                Some(key) => key,
                None => key_file(path)?,
            };
            let store = SqliteStore::open(path, Sealer::new(key), handoff, migrate)?;
            Ok(Arc::new(store))
        }
        Database::Shared(url) => {
            let Some(key) = settings.secret_key else {
                bail!(
                    "set HOOKBOX_SECRET_KEY, the same for every node of a shared database; make one with \
                     `openssl rand -base64 32`"
                );
            };
            let store = ClusterStore::open(url.expose(), Sealer::new(key), handoff, migrate)
                .await
                .with_context(|| settings.database.to_string())?;
            Ok(Arc::new(store))
        }
    }
}

/// Where the key of an `SQLite` database stands when none is set.
pub(in crate::cli) fn key_path(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".key");
    PathBuf::from(name)
}

/// The key that a key file holds.
pub(in crate::cli) fn key_of(text: &str) -> Option<[u8; 32]> {
    STANDARD.decode(text.trim()).ok()?.try_into().ok()
}

/// The key that was written beside the database at its first start, or one written now.
fn key_file(database: &Path) -> anyhow::Result<[u8; 32]> {
    let path = key_path(database);
    let read = std::fs::read_to_string(&path);
    match read {
        Ok(text) => key_of(&text).with_context(|| {
            format!(
                "{} is not a key (base64 of 32 bytes); restore it from a backup",
                path.display()
            )
        }),
        // A new key would leave what is in the database sealed for ever.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !database.exists() => {
            let key: [u8; 32] = rand::random();
            write_private(&path, &STANDARD.encode(key))
                .with_context(|| format!("cannot write the key file {}", path.display()))?;
            Ok(key)
        }
        Err(error) => Err(error).with_context(|| {
            format!(
                "cannot read the key file {}; restore it, or set HOOKBOX_SECRET_KEY",
                path.display()
            )
        }),
    }
}

/// Writes a file that only its owner may read, and has it on the disk before anything is sealed with it.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()?;
    // The file's name is in its folder, which is another file.
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    std::fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}
