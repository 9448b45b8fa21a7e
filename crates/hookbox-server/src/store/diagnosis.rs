//! What a database tells of itself when it is looked at without being opened for use.

use std::collections::BTreeMap;
use std::time::Duration;

use super::QueueFigures;
use super::seal::{KEY_CHECK, Sealer};
use crate::model::Time;
use crate::model::endpoint::Disabled;

/// Which database it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// A file.
    Sqlite,
    /// `PostgreSQL`.
    Postgres,
    /// `MySQL`.
    Mysql,
    /// `MariaDB`.
    Mariadb,
}

/// How the given key fits what was sealed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyFit {
    /// There was no key to try, or nothing to try it on.
    #[default]
    Untried,
    /// Nothing was sealed yet.
    Unused,
    /// It is the one.
    Same,
    /// It is another.
    Other,
}

/// Transactions that have been open for long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OldTransactions {
    /// How many.
    pub count: u64,
    /// Since when the oldest is open.
    pub oldest: Duration,
}

/// Tables that are kept by days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Days {
    /// Tables of today and the next days that are not there.
    pub missing: Vec<String>,
    /// Tables for what has no day of its own, and which hold rows.
    pub strays: Vec<String>,
}

/// The doors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// How many there are.
    pub count: usize,
    /// Those that no request can be verified for.
    pub without_secret: Vec<String>,
}

/// The endpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoints {
    /// How many there are.
    pub count: u64,
    /// How many were disabled since they answered 410.
    pub gone: u64,
    /// How many somebody switched off.
    pub switched_off: u64,
    /// The addresses that events are forwarded to.
    pub forward: Vec<String>,
}

/// Where the file of a database lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The folder is there.
    pub folder: bool,
    /// The file is there.
    pub file: bool,
    /// The size of the log beside it.
    pub log_bytes: u64,
    /// What a user may still write in the folder.
    pub free_bytes: Option<u64>,
    /// The name of the network file system it lies on.
    pub network: Option<&'static str>,
    /// What a check of all pages said; `None` when there was none.
    pub damage: Option<Vec<String>>,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// Which database it is.
    pub product: Product,
    /// Its version, as it says it.
    pub version: String,
    /// The version is older than what Hookbox needs.
    pub too_old: bool,
    /// How long it took to connect and to get the first answer.
    pub took: Duration,
    /// No proxy stands in between that gives each transaction another server.
    pub direct: bool,
    /// The database's own settings, by name.
    pub settings: BTreeMap<String, String>,
    /// Connections that a node makes.
    pub connections: usize,
    /// Its schema, zero when it has none; `None` when that could not be read.
    pub schema: Option<u32>,
    /// The schema that this program works with.
    pub needed: u32,
    /// It is another program's.
    pub foreign: bool,
    /// Whether the key fits.
    pub key: KeyFit,
    /// How far its clock is ahead of this machine's, in milliseconds; `None` when it has none of its own.
    pub ahead_ms: Option<i64>,
    /// What is open for long.
    pub transactions: Option<OldTransactions>,
    /// Tables by days, where there are such.
    pub days: Option<Days>,
    /// The queue, and the database's time when it was counted.
    pub queue: Option<(QueueFigures, Time)>,
    /// The doors.
    pub sources: Option<Sources>,
    /// The endpoints.
    pub endpoints: Option<Endpoints>,
    /// The file, when it is one.
    pub place: Option<Place>,
    /// What could not be read, and why.
    pub unread: Vec<(&'static str, String)>,
}

impl Diagnosis {
    /// Nothing known yet but which database it is.
    #[must_use]
    pub fn of(product: Product) -> Self {
        Self {
            product,
            version: String::new(),
            too_old: false,
            took: Duration::ZERO,
            direct: true,
            settings: BTreeMap::new(),
            connections: 0,
            schema: None,
            needed: 0,
            foreign: false,
            key: KeyFit::default(),
            ahead_ms: None,
            transactions: None,
            days: None,
            queue: None,
            sources: None,
            endpoints: None,
            place: None,
            unread: Vec::new(),
        }
    }

    /// Whether this program may read its tables.
    #[must_use]
    pub fn is_current(&self) -> bool {
        !self.foreign && self.needed > 0 && self.schema == Some(self.needed)
    }

    /// Keeps what was read, or that it was not.
    pub(super) fn keep<T>(&mut self, what: &'static str, read: super::Result<T>) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(error) => {
                self.unread.push((what, error.to_string()));
                None
            }
        }
    }
}

impl KeyFit {
    /// Whether the key is the one that the known text was sealed with.
    pub(super) fn of(sealer: &Sealer, sealed: Option<&[u8]>) -> Self {
        match sealed.map(|sealed| sealer.open(KEY_CHECK, sealed)) {
            None => Self::Unused,
            Some(Ok(_)) => Self::Same,
            Some(Err(_)) => Self::Other,
        }
    }
}

impl Endpoints {
    /// So many endpoints that are disabled for that reason, or for none.
    pub(super) fn add(&mut self, disabled: Option<&str>, count: u64) {
        self.count += count;
        match disabled.and_then(Disabled::from_code) {
            Some(Disabled::Gone) => self.gone += count,
            Some(Disabled::ByUser) => self.switched_off += count,
            None => {}
        }
    }
}
