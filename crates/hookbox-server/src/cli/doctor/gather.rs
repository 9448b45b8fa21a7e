//! Gathering facts about files, without judging them.

use std::path::{Path, PathBuf};

use super::settings::{KeyFile, KeyState, SecretFile};
use crate::cli::server::open::{key_of, key_path};
use crate::settings::{Database, Given, Settings};

/// The key file of an `SQLite` database, when that is where the key should be.
pub(super) fn key_file(settings: &Settings) -> Option<KeyFile> {
    match &settings.database {
        Database::Sqlite(database) if settings.secret_key.is_none() => {
            let path = key_path(database);
            Some(KeyFile {
                state: state(&path),
                mode: mode(&path).unwrap_or(0),
                path,
                needed: database.exists(),
            })
        }
        Database::Sqlite(_) | Database::Shared(_) => None,
    }
}

fn state(path: &Path) -> KeyState {
    match std::fs::read_to_string(path) {
        Ok(text) => key_of(&text).map_or(KeyState::Malformed, KeyState::Key),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => KeyState::Missing,
        Err(_) => KeyState::Unreadable,
    }
}

/// The files that secrets are read from, and who may read them.
pub(super) fn secret_files(given: &Given) -> Vec<SecretFile> {
    let mut files = given.secret_files();
    if given.file_is_secret() {
        files.push(given.path.clone());
    }
    let files = files.into_iter();
    files
        .filter_map(|path: PathBuf| Some((mode(&path)?, path)))
        .map(|(mode, path)| (path, mode))
        .collect()
}

/// Who may do what with a file.
#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = std::fs::metadata(path).ok()?;
    Some(metadata.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn mode(_path: &Path) -> Option<u32> {
    None
}
