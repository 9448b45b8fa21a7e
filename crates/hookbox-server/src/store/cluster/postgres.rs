//! How `PostgreSQL` is spoken to.

mod probe;
mod values;

use std::borrow::Cow;
use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, RecyclingMethod};
use futures_util::future::join_all;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

pub(super) use self::probe::is_direct;
use self::values::types;
pub(super) use self::values::{Array, Row};
use super::sql::{Dialect, Statement};
use super::trouble::{Tried, Trouble};
use crate::store::{Error, Result};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(3);
/// How long a server may take to answer when it is first asked.
const ANSWER: Duration = Duration::from_secs(5);

/// Connections to one database.
#[derive(Clone)]
pub(super) struct Pool {
    pool: deadpool_postgres::Pool,
    /// Statements are prepared once for each connection. Not behind a proxy that gives each transaction another
    /// server: there a name may stand for another client's statement.
    named: bool,
    /// What opens a transaction.
    begin: Arc<str>,
}

/// A setting of the server for the transactions of a pool.
pub(super) type ServerSetting = (&'static str, &'static str);

/// Reads `postgres://` addresses; what is not said is filled in.
pub(super) fn config(url: &str) -> std::result::Result<tokio_postgres::Config, String> {
    let mut config: tokio_postgres::Config =
        url.parse().map_err(|error: tokio_postgres::Error| {
            error
                .source()
                .map_or_else(|| error.to_string(), ToString::to_string)
        })?;
    let local = |host: &Host| match host {
        Host::Tcp(name) => {
            name == "localhost"
                || name
                    .parse()
                    .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
        }
        Host::Unix(_) => true,
    };
    // Nothing is encrypted on the way to the same machine, unless the address says so; elsewhere the
    // certificate is checked, unless the address says `sslmode=disable`.
    if !url.contains("sslmode=") && config.get_hosts().iter().all(local) {
        config.ssl_mode(SslMode::Disable);
    }
    if config.get_dbname().is_none_or(str::is_empty) {
        return Err("write which database: postgres://USER:PASSWORD@HOST/NAME".to_owned());
    }
    config.connect_timeout(CONNECT);
    config.keepalives_idle(Duration::from_secs(15));
    config.tcp_user_timeout(Duration::from_secs(10));
    if config.get_application_name().is_none() {
        config.application_name("hookbox");
    }
    Ok(config)
}

pub(super) fn tls() -> Result<tokio_postgres_rustls::MakeRustlsConnect> {
    use rustls_platform_verifier::ConfigVerifierExt as _;
    let config = rustls::ClientConfig::with_platform_verifier()
        .map_err(|error| Error::Unavailable(error.to_string()))?;
    Ok(tokio_postgres_rustls::MakeRustlsConnect::new(config))
}

impl Pool {
    /// Connections to the database of that configuration, `size` at most.
    pub(super) fn new(
        config: &tokio_postgres::Config,
        size: usize,
        named: bool,
        settings: &[ServerSetting],
    ) -> Result<Self> {
        let (mut config, mut begin) = (config.clone(), "BEGIN".to_owned());
        if named {
            let set = settings
                .iter()
                .map(|(name, value)| format!("-c {name}={value}"));
            let options: Vec<String> = config
                .get_options()
                .map(str::to_owned)
                .into_iter()
                .chain(set)
                .collect();
            config.options(options.join(" "));
        } else {
            // What a proxy gives to the next client must be as it was.
            for (name, value) in settings {
                begin += &format!("; SET LOCAL {name} = '{value}'");
            }
        }
        let manager = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let pool =
            deadpool_postgres::Pool::builder(Manager::from_config(config.clone(), tls()?, manager))
                .max_size(size)
                .build()
                .map_err(|error| Error::Unavailable(error.to_string()))?;
        Ok(Self {
            pool,
            named,
            begin: begin.into(),
        })
    }

    pub(super) async fn connection(&self) -> Result<Connection> {
        let object = self.pool.get().await.map_err(|error| match error {
            deadpool_postgres::PoolError::Backend(error) => Error::Unavailable(text(&error)),
            other => Error::Unavailable(other.to_string()),
        })?;
        Ok(Connection {
            object,
            named: self.named,
            begin: Arc::clone(&self.begin),
            unopened: false,
        })
    }
}

/// A connection in use.
pub(super) struct Connection {
    object: Object,
    named: bool,
    begin: Arc<str>,
    /// The transaction is opened on the way of its first statement.
    unopened: bool,
}

/// A statement that can be sent at once.
enum Ready {
    Named(tokio_postgres::Statement),
    Typed(Cow<'static, str>, Vec<Type>),
}

impl Connection {
    pub(super) fn begin(&mut self) {
        self.unopened = true;
    }

    pub(super) async fn commit(&self) -> Tried<()> {
        match self.object.batch_execute("COMMIT").await {
            Ok(()) => Ok(()),
            Err(error) if error.code().is_some() => Err(trouble(&error)),
            Err(error) => Err(Trouble::Unknown(text(&error))),
        }
    }

    pub(super) async fn rollback(&self) -> Tried<()> {
        self.object
            .batch_execute("ROLLBACK")
            .await
            .map_err(|error| trouble(&error))
    }

    /// Many statements in one text.
    pub(super) async fn batch(&mut self, text: &str) -> Tried<()> {
        let opens = std::mem::take(&mut self.unopened);
        self.opened(opens).await?;
        self.object
            .batch_execute(text)
            .await
            .map_err(|error| trouble(&error))
    }

    async fn opened(&self, opens: bool) -> Tried<()> {
        if opens {
            self.object
                .batch_execute(&self.begin)
                .await
                .map_err(|error| trouble(&error))?;
        }
        Ok(())
    }

    /// Runs a statement with these values, and returns its rows.
    pub(super) async fn query(
        &mut self,
        statement: Statement,
        values: &[&(dyn ToSql + Sync)],
    ) -> Tried<Vec<Row>> {
        let ready = self.ready(statement).await?;
        let opens = std::mem::take(&mut self.unopened);
        // Both are sent before the first is answered.
        let (opened, rows) = tokio::join!(biased; self.opened(opens), self.ask(&ready, values));
        opened.and(rows)
    }

    /// Runs statements that have rows of values, and returns the rows of each. All are sent before the first is
    /// answered.
    pub(super) async fn query_all(
        &mut self,
        asked: &[(Statement, Vec<Array<'_, '_>>)],
    ) -> Tried<Vec<Vec<Row>>> {
        let mut all = Vec::new();
        for (statement, arrays) in asked {
            let ready = match arrays.as_slice() {
                [] => None,
                _ => Some(self.ready(*statement).await?),
            };
            let values: Vec<&(dyn ToSql + Sync)> = arrays.iter().map(|array| array as _).collect();
            all.push((ready, values));
        }
        let opens = std::mem::take(&mut self.unopened);
        let answers = join_all(all.iter().map(async |(ready, values)| match ready {
            Some(ready) => self.ask(ready, values).await,
            None => Ok(Vec::new()),
        }));
        let (opened, answers) = tokio::join!(biased; self.opened(opens), answers);
        opened?;
        answers.into_iter().collect()
    }

    async fn ask(&self, ready: &Ready, values: &[&(dyn ToSql + Sync)]) -> Tried<Vec<Row>> {
        let rows = match ready {
            Ready::Named(prepared) => self.object.query(prepared, values).await,
            Ready::Typed(text, types) => self.object.query_typed(text, &typed(values, types)).await,
        };
        let rows = rows.map_err(|error| trouble(&error))?;
        Ok(rows.into_iter().map(Row).collect())
    }

    /// Runs a statement with these values, and returns how many rows it touched.
    pub(super) async fn execute(
        &mut self,
        statement: Statement,
        values: &[&(dyn ToSql + Sync)],
    ) -> Tried<u64> {
        let ready = self.ready(statement).await?;
        let opens = std::mem::take(&mut self.unopened);
        let (opened, count) = tokio::join!(biased; self.opened(opens), self.run(&ready, values));
        opened.and(count.map_err(|error| trouble(&error)))
    }

    /// Writes rows, a statement for each table, and commits. All is sent before the first is answered.
    pub(super) async fn write_and_commit(
        &mut self,
        writes: &[(Statement, Vec<Array<'_, '_>>)],
    ) -> Tried<()> {
        let mut all = Vec::new();
        for (statement, arrays) in writes {
            let values: Vec<&(dyn ToSql + Sync)> = arrays.iter().map(|array| array as _).collect();
            all.push((self.ready(*statement).await?, values));
        }
        let opens = std::mem::take(&mut self.unopened);
        let statements = join_all(all.iter().map(|(ready, values)| self.run(ready, values)));
        let (opened, written, committed) =
            tokio::join!(biased; self.opened(opens), statements, self.commit());
        match (written.into_iter().find_map(|done| done.err()), committed) {
            // A commit after a statement that failed takes everything back, and says so to nobody.
            (Some(error), _) if error.code().is_some() => Err(trouble(&error)),
            // The connection was lost with the commit on its way: that nobody heard of a statement says nothing.
            (_, Err(Trouble::Unknown(why))) => Err(Trouble::Unknown(why)),
            (Some(error), _) => Err(trouble(&error)),
            (None, committed) => opened.and(committed),
        }
    }

    async fn run(
        &self,
        ready: &Ready,
        values: &[&(dyn ToSql + Sync)],
    ) -> std::result::Result<u64, tokio_postgres::Error> {
        match ready {
            Ready::Named(prepared) => self.object.execute(prepared, values).await,
            Ready::Typed(text, types) => {
                self.object.execute_typed(text, &typed(values, types)).await
            }
        }
    }

    async fn ready(&self, statement: Statement) -> Tried<Ready> {
        let text = statement.text(Dialect::Postgres);
        if self.named {
            let prepared = self
                .object
                .prepare_cached(&text)
                .await
                .map_err(|error| trouble(&error))?;
            return Ok(Ready::Named(prepared));
        }
        let types = types(&text);
        Ok(Ready::Typed(text, types))
    }

    /// Ends the connection instead of giving it back.
    pub(super) fn discard(self) {
        drop(Object::take(self.object));
    }
}

fn typed<'a>(
    values: &[&'a (dyn ToSql + Sync)],
    types: &[Type],
) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    values.iter().copied().zip(types.iter().cloned()).collect()
}

/// What the database said, without the values that it may have quoted.
fn text(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => format!("{} ({})", said.message(), said.code().code()),
        None => error
            .source()
            .map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}")),
    }
}

fn trouble(error: &tokio_postgres::Error) -> Trouble {
    let said = text(error);
    match error.code() {
        Some(
            &SqlState::UNIQUE_VIOLATION
            | &SqlState::T_R_DEADLOCK_DETECTED
            | &SqlState::T_R_SERIALIZATION_FAILURE
            | &SqlState::LOCK_NOT_AVAILABLE,
        ) => Trouble::Again(said),
        // What the database says of the values: the row cannot be written, and others can.
        Some(code) if code.code().starts_with("22") || code.code().starts_with("23") => {
            Trouble::Is(Error::Unreadable(said))
        }
        _ => Trouble::Is(Error::Unavailable(said)),
    }
}
