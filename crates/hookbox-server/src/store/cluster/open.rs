//! Opening a store: connections, schema, key, and the tasks that go on as long as it lives.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio_util::task::AbortOnDropHandle;

use super::doors::{self, Doors};
use super::line::{self, Line};
use super::routes::Routes;
use super::sql::{Dialect, sql};
use super::transaction::{Kind, Limits, Pool, Transaction, reading, transaction};
use super::wake::{self, Wake};
use super::{ClusterStore, Shared, mysql, postgres, schema};
use crate::model::{Clock, EndpointId};
use crate::store::columns::Columns as _;
use crate::store::seal::{KEY_CHECK, Sealer};
use crate::store::{Error, Handoff, Migrate, Result, SchemaError};

/// Transactions that record at the same time, when many calls wait.
const RECORDERS: usize = 2;
/// Transactions that settle at the same time: one makes larger groups, and nobody waits for it.
const SETTLERS: usize = 1;
/// Connections for pages and changes.
const PAGES: usize = 8;
/// Connections that a node makes: to record, to deliver, for pages, and one to hear wake-ups.
pub(super) const CONNECTIONS: usize = RECORDERS + 1 + SETTLERS + 1 + 2 + PAGES + 1;
/// How often the clock is compared with the database's.
const COMPARE: Duration = Duration::from_secs(5);
/// An answer that took longer does not set the clock.
const TRUSTED: Duration = Duration::from_millis(500);
/// How often it is seen to that there are tables for the next days.
const DAYS: Duration = Duration::from_hours(1);

const DOORS: Limits = Limits {
    wait: Duration::from_millis(800),
    read: Duration::from_secs(5),
    run: Duration::from_secs(5),
};
const ENGINE: Limits = Limits {
    wait: Duration::from_secs(2),
    read: Duration::from_secs(5),
    run: Duration::from_secs(10),
};
const READS: Limits = Limits {
    wait: Duration::from_millis(800),
    read: Duration::from_secs(5),
    // A change may have a million deliveries to hold or to cancel.
    run: Duration::from_secs(60),
};
const MIGRATIONS: Limits = Limits {
    wait: Duration::from_secs(10),
    read: Duration::from_secs(10),
    run: Duration::from_hours(1),
};

/// For the short statements of the hot path: they find their rows by index whatever the statistics of a table say
/// that was empty a minute ago, and a node that stops in the middle holds nobody up for long.
const HOT_SETTINGS: [postgres::ServerSetting; 4] = [
    ("plan_cache_mode", "force_generic_plan"),
    ("enable_seqscan", "off"),
    ("statement_timeout", "10s"),
    ("idle_in_transaction_session_timeout", "10s"),
];
/// A result that is lost with the database's machine leaves its delivery leased, to be tried again: at least once
/// holds, and nobody waits for a disk.
const SETTLE_SETTINGS: [postgres::ServerSetting; 5] = [
    ("plan_cache_mode", "force_generic_plan"),
    ("enable_seqscan", "off"),
    ("statement_timeout", "10s"),
    ("idle_in_transaction_session_timeout", "10s"),
    ("synchronous_commit", "off"),
];
const PAGES_SETTINGS: [postgres::ServerSetting; 2] = [
    ("statement_timeout", "60s"),
    ("idle_in_transaction_session_timeout", "60s"),
];

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The address cannot be read.
    #[error("HOOKBOX_DATABASE: {0}")]
    Address(String),
    /// The database does not answer, or refuses.
    #[error(transparent)]
    Database(#[from] Error),
    /// The server is older than what Hookbox needs.
    #[error(
        "the server is {0}; Hookbox needs PostgreSQL 13, MySQL 8.0.16 or MariaDB 10.6, or later"
    )]
    OldServer(String),
    /// The server may forget what it said it has written.
    #[error("{0}: what was accepted can be lost; see `hookbox doctor`")]
    NotDurable(&'static str),
    /// The schema is not one to work with.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The secrets in it were sealed with another key.
    #[error(
        "the secrets in this database were sealed with another HOOKBOX_SECRET_KEY; start with that one"
    )]
    OtherKey,
}

/// How a database is reached.
pub(super) enum Target {
    Postgres {
        config: Box<tokio_postgres::Config>,
        named: bool,
    },
    Mysql(Box<mysql_async::Opts>),
}

impl Target {
    pub(super) async fn of(url: &str) -> std::result::Result<Self, OpenError> {
        if url.starts_with("mysql:") {
            let options = mysql::options(url).map_err(OpenError::Address)?;
            return Ok(Self::Mysql(Box::new(options)));
        }
        let config = postgres::config(url).map_err(OpenError::Address)?;
        let named = postgres::is_direct(&config).await?;
        Ok(Self::Postgres {
            config: Box::new(config),
            named,
        })
    }

    /// The same without names for statements, and whether it would have given them.
    pub(super) fn unnamed(self) -> (Self, bool) {
        match self {
            Self::Postgres { config, named } => (
                Self::Postgres {
                    config,
                    named: false,
                },
                named,
            ),
            other @ Self::Mysql(_) => (other, true),
        }
    }

    pub(super) fn pool(
        &self,
        size: usize,
        limits: Limits,
        settings: &[postgres::ServerSetting],
    ) -> Result<Pool> {
        let kind = match self {
            Self::Postgres { config, named } => {
                Kind::Postgres(postgres::Pool::new(config, size, *named, settings)?)
            }
            Self::Mysql(options) => Kind::Mysql(mysql::Pool::new(options, size)),
        };
        Ok(Pool::new(kind, limits))
    }
}

/// Brings the schema of a database up to date, without serving it; returns how many steps were taken.
///
/// # Errors
/// See [`OpenError`].
pub async fn migrate(url: &str) -> std::result::Result<u32, OpenError> {
    let pool = Target::of(url).await?.pool(1, MIGRATIONS, &[])?;
    check_server(&pool).await?;
    Ok(schema::migrate(&pool, Migrate::Always).await?)
}

impl ClusterStore {
    /// Opens the database at a `postgres://` or `mysql://` address, filling it when it is empty.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn open(
        url: &str,
        sealer: Sealer,
        handoff: Handoff,
        allowed: Migrate,
    ) -> std::result::Result<Self, OpenError> {
        let target = Target::of(url).await?;
        let migrations = target.pool(1, MIGRATIONS, &[])?;
        check_server(&migrations).await?;
        schema::migrate(&migrations, allowed).await?;
        drop(migrations);
        let pages = target.pool(PAGES, READS, &PAGES_SETTINGS)?;
        check_key(&pages, &sealer).await?;
        let shared = Arc::new(Shared {
            doors_pool: target.pool(RECORDERS + 1, DOORS, &HOT_SETTINGS)?,
            engine_pool: target.pool(2, ENGINE, &HOT_SETTINGS)?,
            settle_pool: target.pool(SETTLERS + 1, ENGINE, &SETTLE_SETTINGS)?,
            pages,
            recording: Line::new(line::Limits {
                calls: 8192,
                bytes: 64 << 20,
                group_calls: 256,
                group_bytes: 8 << 20,
                writers: RECORDERS,
                crowd: 12,
            }),
            settling: Line::new(line::Limits {
                calls: 65_536,
                bytes: 64 << 20,
                group_calls: 100,
                group_bytes: 8 << 20,
                writers: SETTLERS,
                crowd: 1,
            }),
            routes: Routes::default(),
            doors: Doors::default(),
            wake: Wake::default(),
            node: hex::encode(rand::random::<[u8; 8]>()),
            turn: Mutex::new(EndpointId([0; 16])),
            sealer,
            handoff,
        });
        compare(&shared.pages).await?;
        make_days(&shared).await;
        shared
            .doors
            .renew(&shared.pages, &shared.sealer)
            .await
            .map_err(|error| match error {
                Error::Unreadable(_) => OpenError::OtherKey,
                other => other.into(),
            })?;
        let mut tasks = Vec::new();
        for _ in 0..RECORDERS {
            tasks.push(spawn(Arc::clone(&shared).recorder()));
        }
        for _ in 0..SETTLERS {
            tasks.push(spawn(Arc::clone(&shared).settler()));
        }
        tasks.push(spawn(Arc::clone(&shared).follow()));
        if let Target::Postgres { config, named } = target {
            tasks.push(spawn(wake::tell(Arc::clone(&shared))));
            // A proxy that gives each transaction another server cannot pass a wake-up on.
            if named {
                tasks.push(spawn(wake::listen(Arc::clone(&shared), *config)));
            }
        }
        Ok(Self {
            shared,
            _tasks: tasks,
        })
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }
}

fn spawn(task: impl Future<Output = ()> + Send + 'static) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(task))
}

impl Shared {
    /// Keeps the node in step with the database, as long as the store lives.
    async fn follow(self: Arc<Self>) {
        let (mut compared, mut made) = (Clock.now(), Clock.now());
        loop {
            Clock.sleep_until(Clock.now().plus(doors::POLL)).await;
            if let Err(error) = self.doors.renew(&self.pages, &self.sealer).await {
                tracing::warn!(%error, "sources and tokens could not be looked at");
            }
            let now = Clock.now();
            if now.since(compared) >= COMPARE {
                compared = now;
                if let Err(error) = compare(&self.pages).await {
                    tracing::debug!(%error, "the clock could not be compared");
                }
            }
            if now.since(made) >= DAYS {
                made = now;
                make_days(&self).await;
            }
        }
    }
}

/// Sets the clock by the database's.
async fn compare(pages: &Pool) -> Result<()> {
    let asked = Clock.now();
    let row = reading!(pages, |read| read.find(sql!("now"), &[]).await)?;
    let took = Clock.now().since(asked);
    // What came late tells a time that is not quite known.
    if let Some(row) = row
        && took < TRUSTED
    {
        Clock.follow(row.time(0)?.plus(took / 2));
    }
    Ok(())
}

async fn make_days(shared: &Shared) {
    if let Err(trouble) = schema::make_days(&shared.pages, Clock.now()).await {
        let error = trouble.into_error();
        tracing::warn!(%error, "the tables of the next days were not made");
    }
}

/// Refuses a server that is too old, or that may forget what it said it has written.
async fn check_server(pool: &Pool) -> std::result::Result<(), OpenError> {
    let rows = reading!(pool, |read| read.query(sql!("version"), &[]).await)?;
    let (number, text) = match rows.first() {
        Some(row) => (row.number::<i64>(0)?, row.string(1)?),
        None => (0, String::new()),
    };
    if number < oldest(pool.dialect(), &text) {
        return Err(OpenError::OldServer(text));
    }
    let settings = reading!(pool, |read| read.query(sql!("durability"), &[]).await)?;
    for row in &settings {
        let (name, value) = (row.string(0)?, row.string(1)?);
        match (name.as_str(), value.as_str()) {
            ("synchronous_commit", "off") => {
                return Err(OpenError::NotDurable("synchronous_commit is off"));
            }
            ("fsync" | "full_page_writes", "off")
            | ("innodb_flush_log_at_trx_commit", "0" | "2")
            | ("innodb_doublewrite", "OFF") => {
                tracing::warn!(%name, %value, "the database may lose what it accepted when the machine fails");
            }
            _ => {}
        }
    }
    Ok(())
}

/// The oldest version, as the database numbers it.
pub(super) fn oldest(dialect: Dialect, text: &str) -> i64 {
    match dialect {
        Dialect::Postgres => 130_000,
        Dialect::Mysql if text.contains("MariaDB") => 100_600,
        Dialect::Mysql => 80_016,
    }
}

/// Refuses another key than the one the database was first opened with.
async fn check_key(pages: &Pool, sealer: &Sealer) -> std::result::Result<(), OpenError> {
    let known: Result<Option<Vec<u8>>> = transaction!(pages, |open| check(&mut open, sealer).await);
    match known? {
        Some(sealed) => sealer
            .open(KEY_CHECK, &sealed)
            .map(|_| ())
            .map_err(|_| OpenError::OtherKey),
        None => Ok(()),
    }
}

async fn check(open: &mut Transaction, sealer: &Sealer) -> super::trouble::Tried<Option<Vec<u8>>> {
    schema::lock(open).await?;
    let checked = known_key(open, sealer).await;
    let unlocked = schema::unlock(open).await;
    let known = checked?;
    unlocked.map(|()| known)
}

async fn known_key(
    open: &mut Transaction,
    sealer: &Sealer,
) -> super::trouble::Tried<Option<Vec<u8>>> {
    let known = open.find(sql!("key_check_find"), &[]).await?;
    let known = known.map_or(Ok(None), |row| row.bytes(0))?;
    if known.is_none() {
        let sealed = sealer.seal(KEY_CHECK, KEY_CHECK);
        open.execute(sql!("key_check_put"), &[sealed.into()])
            .await?;
    }
    Ok(known)
}
