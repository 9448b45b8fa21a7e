//! Connections and transactions, whichever database it is.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tokio_postgres::types::ToSql;

use super::sql::{Dialect, Statement};
use super::trouble::{Tried, Trouble};
use super::{mysql, postgres};
use crate::store::columns::{Columns, Value};
use crate::store::{Error, Result};

/// Tries of a transaction that others were in the way of.
const TRIES: u32 = 8;

/// Connections for one purpose, so that those who look at pages cannot take those of who records.
#[derive(Clone)]
pub(super) struct Pool {
    kind: Kind,
    limits: Limits,
}

#[derive(Clone)]
pub(super) enum Kind {
    Postgres(postgres::Pool),
    Mysql(mysql::Pool),
}

/// How long things may take.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// To get a connection.
    pub(super) wait: Duration,
    /// A single read, from when it has its connection.
    pub(super) read: Duration,
    /// A whole transaction, from when it has its connection.
    pub(super) run: Duration,
}

enum Connection {
    Postgres(Box<postgres::Connection>),
    Mysql(mysql::Connection),
}

/// A transaction, or a single read. Dropped before its end, its connection is closed.
pub(super) struct Transaction {
    connection: Option<Connection>,
    begun: bool,
    /// A statement is under way. One that nobody waits for any more leaves the connection so.
    busy: bool,
    until: Instant,
}

/// The values of a statement: each once, or rows of them.
enum Bound<'a, 'b> {
    Once(&'b [Value<'a>]),
    Rows(Vec<&'b [Value<'a>]>),
}

/// Values as `PostgreSQL` takes them: one by one, or a column of the rows in each array.
enum Parameters<'a, 'b> {
    Values(&'b [Value<'a>]),
    Arrays(Vec<postgres::Array<'a, 'b>>),
}

impl<'a, 'b> Bound<'a, 'b> {
    fn rows<R: AsRef<[Value<'a>]>>(rows: &'b [R]) -> Self {
        Self::Rows(rows.iter().map(AsRef::as_ref).collect())
    }

    fn postgres(&self) -> Parameters<'a, 'b> {
        match self {
            Self::Once(values) => Parameters::Values(values),
            Self::Rows(rows) => Parameters::Arrays(transposed(rows)),
        }
    }

    fn mysql(&self) -> Vec<&'b [Value<'a>]> {
        match self {
            Self::Once(values) => vec![values],
            Self::Rows(rows) => rows.clone(),
        }
    }
}

impl Parameters<'_, '_> {
    fn as_values(&self) -> Vec<&(dyn ToSql + Sync)> {
        match self {
            Self::Values(values) => values.iter().map(|value| value as _).collect(),
            Self::Arrays(arrays) => arrays.iter().map(|array| array as _).collect(),
        }
    }
}

/// Runs a step while the transaction's time lasts.
macro_rules! within {
    ($this:expr, $run:expr) => {{
        let until = $this.until;
        $this.busy = true;
        let done = timeout_at(until, $run($this.open()?)).await;
        $this.busy = done.is_err();
        done.unwrap_or_else(|_| Err(too_slow().into()))
    }};
}

/// Rows to write, by their statements, in this order.
pub(super) type Writes<'a> = Vec<(Statement, Vec<Vec<Value<'a>>>)>;

/// A row of a result.
pub(super) enum Row {
    Postgres(postgres::Row),
    Mysql(mysql::Row),
}

impl Columns for Row {
    fn int(&self, at: usize) -> Result<Option<i64>> {
        match self {
            Self::Postgres(row) => row.int(at),
            Self::Mysql(row) => row.int(at),
        }
    }

    fn bytes(&self, at: usize) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Postgres(row) => row.bytes(at),
            Self::Mysql(row) => row.bytes(at),
        }
    }
}

fn too_slow() -> Error {
    Error::Unavailable("the database did not answer in time".into())
}

impl Pool {
    pub(super) fn new(kind: Kind, limits: Limits) -> Self {
        Self { kind, limits }
    }

    pub(super) fn dialect(&self) -> Dialect {
        match self.kind {
            Kind::Postgres(_) => Dialect::Postgres,
            Kind::Mysql(_) => Dialect::Mysql,
        }
    }

    /// A connection for single reads, each by itself.
    pub(super) async fn read(&self) -> Result<Transaction> {
        let connection = async {
            Ok::<_, Error>(match &self.kind {
                Kind::Postgres(pool) => Connection::Postgres(Box::new(pool.connection().await?)),
                Kind::Mysql(pool) => Connection::Mysql(pool.connection().await?),
            })
        };
        let connection = timeout_at(Instant::now() + self.limits.wait, connection)
            .await
            .map_err(|_| {
                Error::Unavailable(
                    "no connection to the database: it does not answer, or all are in use".into(),
                )
            })??;
        Ok(Transaction {
            connection: Some(connection),
            begun: false,
            busy: false,
            until: Instant::now() + self.limits.read,
        })
    }

    /// A transaction.
    pub(super) async fn begin(&self) -> Result<Transaction> {
        let mut transaction = self.read().await?;
        transaction.until = Instant::now() + self.limits.run;
        transaction.begin().await.map_err(Trouble::into_error)?;
        Ok(transaction)
    }
}

impl Transaction {
    async fn begin(&mut self) -> Tried<()> {
        let until = self.until;
        self.begun = true;
        match self.connection.as_mut() {
            Some(Connection::Postgres(connection)) => connection.begin(),
            Some(Connection::Mysql(connection)) => {
                match timeout_at(until, connection.begin()).await {
                    Ok(begun) => begun?,
                    Err(_) => return Err(too_slow().into()),
                }
            }
            None => {}
        }
        Ok(())
    }

    /// Writes rows of values, a statement for each table that has any, and commits.
    pub(super) async fn write_and_commit(mut self, writes: Writes<'_>) -> Tried<()> {
        let until = self.until;
        let writes: Vec<_> = writes
            .into_iter()
            .filter(|(_, rows)| !rows.is_empty())
            .collect();
        let write = async {
            match self.open()? {
                Connection::Postgres(connection) => {
                    let arrays: Vec<_> = writes
                        .iter()
                        .map(|(sql, rows)| {
                            let rows: Vec<_> = rows.iter().map(AsRef::as_ref).collect();
                            (*sql, transposed(&rows))
                        })
                        .collect();
                    connection.write_and_commit(&arrays).await
                }
                Connection::Mysql(connection) => {
                    for (sql, rows) in &writes {
                        let rows: Vec<_> = rows.iter().map(AsRef::as_ref).collect();
                        connection.execute(*sql, &rows).await?;
                    }
                    connection.commit().await
                }
            }
        };
        match timeout_at(until, write).await {
            Ok(Ok(())) => {
                self.begun = false;
                Ok(())
            }
            Ok(Err(trouble)) => Err(trouble),
            Err(_) => Err(Trouble::Unknown("the commit took too long".into())),
        }
    }

    /// Runs a statement that takes each value once.
    pub(super) async fn query(&mut self, sql: Statement, values: &[Value<'_>]) -> Tried<Vec<Row>> {
        self.ask(sql, Bound::Once(values)).await
    }

    /// The first row of [`Self::query`].
    pub(super) async fn find(
        &mut self,
        sql: Statement,
        values: &[Value<'_>],
    ) -> Tried<Option<Row>> {
        Ok(self.query(sql, values).await?.into_iter().next())
    }

    /// Runs a statement that takes each value once; returns how many rows it touched.
    pub(super) async fn execute(&mut self, sql: Statement, values: &[Value<'_>]) -> Tried<u64> {
        self.tell(sql, Bound::Once(values)).await
    }

    /// Runs a statement that takes rows of values at once, if there are any.
    pub(super) async fn query_rows<'a, R>(&mut self, sql: Statement, rows: &[R]) -> Tried<Vec<Row>>
    where
        R: AsRef<[Value<'a>]>,
    {
        match rows {
            [] => Ok(Vec::new()),
            rows => self.ask(sql, Bound::rows(rows)).await,
        }
    }

    /// Runs statements that each take rows of values at once, those that have any. All are sent before the first is
    /// answered, where the database allows that.
    pub(super) async fn query_all<const N: usize>(
        &mut self,
        asked: [(Statement, Vec<&[Value<'_>]>); N],
    ) -> Tried<[Vec<Row>; N]> {
        if asked.iter().all(|(_, rows)| rows.is_empty()) {
            return Ok(std::array::from_fn(|_| Vec::new()));
        }
        let run = async |connection: &mut Connection| {
            let mut answers = std::array::from_fn(|_| Vec::new());
            match connection {
                Connection::Postgres(connection) => {
                    let asked: Vec<_> = asked
                        .iter()
                        .map(|(sql, rows)| (*sql, transposed(rows)))
                        .collect();
                    let all = connection.query_all(&asked).await?;
                    for (answer, rows) in answers.iter_mut().zip(all) {
                        *answer = rows.into_iter().map(Row::Postgres).collect();
                    }
                }
                Connection::Mysql(connection) => {
                    for (answer, (sql, rows)) in answers.iter_mut().zip(&asked) {
                        if !rows.is_empty() {
                            let rows = connection.query(*sql, rows).await?;
                            *answer = rows.into_iter().map(Row::Mysql).collect();
                        }
                    }
                }
            }
            Ok(answers)
        };
        within!(self, run)
    }

    /// Runs a statement that writes rows of values at once, if there are any.
    pub(super) async fn execute_rows<'a, R>(&mut self, sql: Statement, rows: &[R]) -> Tried<u64>
    where
        R: AsRef<[Value<'a>]>,
    {
        match rows {
            [] => Ok(0),
            rows => self.tell(sql, Bound::rows(rows)).await,
        }
    }

    async fn ask(&mut self, sql: Statement, bound: Bound<'_, '_>) -> Tried<Vec<Row>> {
        let run = async |connection: &mut Connection| match connection {
            Connection::Postgres(connection) => {
                let rows = connection.query(sql, &bound.postgres().as_values()).await?;
                Ok(rows.into_iter().map(Row::Postgres).collect())
            }
            Connection::Mysql(connection) => {
                let rows = connection.query(sql, &bound.mysql()).await?;
                Ok(rows.into_iter().map(Row::Mysql).collect())
            }
        };
        within!(self, run)
    }

    async fn tell(&mut self, sql: Statement, bound: Bound<'_, '_>) -> Tried<u64> {
        let run = async |connection: &mut Connection| match connection {
            Connection::Postgres(connection) => {
                connection.execute(sql, &bound.postgres().as_values()).await
            }
            Connection::Mysql(connection) => connection.execute(sql, &bound.mysql()).await,
        };
        within!(self, run)
    }

    /// Runs a text of many statements.
    pub(super) async fn script(&mut self, text: &str) -> Tried<()> {
        let run = async |connection: &mut Connection| match connection {
            Connection::Postgres(connection) => connection.batch(text).await,
            Connection::Mysql(connection) => {
                for statement in text.split(";\n").filter(|part| !part.trim().is_empty()) {
                    connection.run(statement).await?;
                }
                Ok(())
            }
        };
        within!(self, run)
    }

    /// Commits what went well, and takes back what did not.
    pub(super) async fn end<T>(mut self, done: Tried<T>) -> Tried<T> {
        let until = self.until;
        let good = done.is_ok();
        let Some(mut connection) = self.connection.take() else {
            return done;
        };
        let end = async {
            match (&mut connection, good) {
                _ if self.busy => Err(too_slow().into()),
                _ if !self.begun => Ok(()),
                (Connection::Postgres(connection), true) => connection.commit().await,
                (Connection::Postgres(connection), false) => connection.rollback().await,
                (Connection::Mysql(connection), true) => connection.commit().await,
                (Connection::Mysql(connection), false) => connection.rollback().await,
            }
        };
        let ended = match timeout_at(until, end).await {
            Ok(ended) => ended,
            Err(_) => Err(Trouble::Unknown("the commit took too long".into())),
        };
        if ended.is_err() {
            self.connection = Some(connection);
        }
        match (done, ended) {
            (Ok(value), Ok(())) => Ok(value),
            (Ok(_), Err(trouble)) => Err(trouble),
            (Err(trouble), _) => Err(trouble),
        }
    }

    fn open(&mut self) -> Tried<&mut Connection> {
        self.connection
            .as_mut()
            .ok_or_else(|| Error::Unavailable("the transaction is over".into()).into())
    }
}

impl Drop for Transaction {
    /// A connection in the middle of something is of no use to the next.
    fn drop(&mut self) {
        match self.connection.take() {
            Some(Connection::Postgres(connection)) if self.begun || self.busy => {
                connection.discard();
            }
            Some(Connection::Mysql(connection)) if self.begun || self.busy => connection.discard(),
            _ => {}
        }
    }
}

fn transposed<'a, 'b>(rows: &[&'b [Value<'a>]]) -> Vec<postgres::Array<'a, 'b>> {
    let width = rows.first().map_or(0, |row| row.len());
    let column = |at| rows.iter().filter_map(move |row| row.get(at)).collect();
    (0..width).map(|at| postgres::Array(column(at))).collect()
}

/// How often a transaction was tried.
pub(super) struct Tries(u32);

impl Tries {
    pub(super) fn new() -> Self {
        Self(0)
    }

    /// Whether it may be tried again; waits a little so that the two do not meet again.
    pub(super) async fn again(&mut self, trouble: Trouble) -> Result<()> {
        match trouble {
            Trouble::Again(_) if self.0 < TRIES => {
                self.0 += 1;
                let most = 4_u64 << self.0;
                let wait = Duration::from_millis(rand::random_range(0..most));
                crate::model::Clock
                    .sleep_until(crate::model::Clock.now().plus(wait))
                    .await;
                Ok(())
            }
            trouble => Err(trouble.into_error()),
        }
    }
}

/// Runs a body in a transaction, again while others are in the way. The body may use `?` on [`Tried`].
macro_rules! transaction {
    ($pool:expr, |$transaction:ident| $body:expr) => {{
        let mut tries = $crate::store::cluster::transaction::Tries::new();
        loop {
            let mut $transaction = $pool.begin().await?;
            let done: $crate::store::cluster::trouble::Tried<_> = async { $body }.await;
            match $transaction.end(done).await {
                Ok(value) => break Ok(value),
                Err(trouble) => tries.again(trouble).await?,
            }
        }
    }};
}
pub(super) use transaction;

/// Runs a body that only reads.
macro_rules! reading {
    ($pool:expr, |$read:ident| $body:expr) => {{
        let mut $read = $pool.read().await?;
        let done: $crate::store::cluster::trouble::Tried<_> = async { $body }.await;
        $read
            .end(done)
            .await
            .map_err($crate::store::cluster::trouble::Trouble::into_error)
    }};
}
pub(super) use reading;
