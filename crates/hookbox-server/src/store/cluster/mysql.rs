//! How `MySQL` and `MariaDB` are spoken to.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Opts, OptsBuilder, PoolConstraints, PoolOpts};

use super::sql::{Dialect, Statement};
use super::trouble::{Tried, Trouble};
use crate::store::columns::{Columns, Value};
use crate::store::{Error, Result};

/// What a connection begins with: no gap locks, and nothing cut to fit.
const SETUP: [&str; 4] = [
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO'",
    "SET SESSION innodb_lock_wait_timeout = 5",
    // In other zones an hour of autumn comes twice.
    "SET SESSION time_zone = '+00:00'",
];

/// Connections to one database.
#[derive(Clone)]
pub(super) struct Pool(mysql_async::Pool);

/// Reads `mysql://` addresses.
pub(super) fn options(url: &str) -> std::result::Result<Opts, String> {
    let options = Opts::from_url(url).map_err(|error| error.to_string())?;
    match options.db_name() {
        Some(name) if !name.is_empty() && is_one_name(url) => Ok(options),
        _ => Err("write which database: mysql://USER:PASSWORD@HOST/NAME".to_owned()),
    }
}

/// Whether what stands between the host and the parameters is one name.
fn is_one_name(url: &str) -> bool {
    let after = url.split_once("://").map_or("", |(_, after)| after);
    let place = after.split('?').next().unwrap_or(after);
    place.matches('/').count() == 1
}

impl Pool {
    /// Connections to the database of that address, `size` at most.
    pub(super) fn new(options: &Opts, size: usize) -> Self {
        let constraints = PoolConstraints::new(0, size).unwrap_or_default();
        let pool = PoolOpts::default()
            .with_constraints(constraints)
            .with_reset_connection(false)
            .with_inactive_connection_ttl(Duration::from_secs(60));
        let options = OptsBuilder::from_opts(options.clone())
            .pool_opts(pool)
            .setup(SETUP.to_vec())
            .stmt_cache_size(256)
            .tcp_nodelay(true)
            // The address says where; a server that names its socket is not asked.
            .prefer_socket(false);
        Self(mysql_async::Pool::new(options))
    }

    pub(super) async fn connection(&self) -> Result<Connection> {
        let conn = self
            .0
            .get_conn()
            .await
            .map_err(|error| Error::Unavailable(text(&error)))?;
        Ok(Connection(conn))
    }
}

/// A connection in use.
pub(super) struct Connection(Conn);

impl Connection {
    pub(super) async fn begin(&mut self) -> Tried<()> {
        self.0
            .query_drop("START TRANSACTION")
            .await
            .map_err(|error| trouble(&error))
    }

    pub(super) async fn commit(&mut self) -> Tried<()> {
        match self.0.query_drop("COMMIT").await {
            Ok(()) => Ok(()),
            Err(error @ mysql_async::Error::Server(_)) => Err(trouble(&error)),
            Err(error) => Err(Trouble::Unknown(text(&error))),
        }
    }

    pub(super) async fn rollback(&mut self) -> Tried<()> {
        self.0
            .query_drop("ROLLBACK")
            .await
            .map_err(|error| trouble(&error))
    }

    /// One statement without values.
    pub(super) async fn run(&mut self, text: &str) -> Tried<()> {
        self.0
            .query_drop(text)
            .await
            .map_err(|error| trouble(&error))
    }

    /// Ends the connection instead of giving it back.
    pub(super) fn discard(self) {
        tokio::spawn(self.0.disconnect());
    }

    /// Runs a statement with the values of these rows, and returns its rows.
    pub(super) async fn query(
        &mut self,
        statement: Statement,
        rows: &[&[Value<'_>]],
    ) -> Tried<Vec<Row>> {
        let text = statement.text(Dialect::Mysql);
        let (text, values) = positional(&text, rows);
        let rows: Vec<mysql_async::Row> = self
            .0
            .exec(text, values)
            .await
            .map_err(|error| trouble(&error))?;
        Ok(rows.into_iter().map(Row).collect())
    }

    /// Runs a statement with the values of these rows, and returns how many rows it touched.
    pub(super) async fn execute(
        &mut self,
        statement: Statement,
        rows: &[&[Value<'_>]],
    ) -> Tried<u64> {
        let text = statement.text(Dialect::Mysql);
        let (text, values) = positional(&text, rows);
        self.0
            .exec_drop(text, values)
            .await
            .map_err(|error| trouble(&error))?;
        Ok(self.0.affected_rows())
    }
}

/// The text with a bare `?` for each `?N`, and the values in the order of their marks. What stands in braces is
/// written once for each row, separated by commas, or by `UNION ALL` when it is a `SELECT`; the values outside are
/// those of the first row.
fn positional<'t>(text: &'t str, rows: &[&[Value<'_>]]) -> (Cow<'t, str>, Vec<mysql_async::Value>) {
    let mut out = String::with_capacity(text.len());
    let mut values = Vec::new();
    let first = rows.first().copied().unwrap_or_default();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        marks(&rest[..open], first, &mut out, &mut values);
        let close = rest[open..].find('}').map_or(rest.len(), |at| open + at);
        let group = &rest[open + 1..close];
        let between = if group.starts_with("SELECT") {
            " UNION ALL "
        } else {
            ", "
        };
        for (place, row) in rows.iter().enumerate() {
            if place > 0 {
                out.push_str(between);
            }
            marks(group, row, &mut out, &mut values);
        }
        rest = rest.get(close + 1..).unwrap_or_default();
    }
    marks(rest, first, &mut out, &mut values);
    (Cow::Owned(out), values)
}

fn marks(text: &str, row: &[Value<'_>], out: &mut String, values: &mut Vec<mysql_async::Value>) {
    let mut parts = text.split('?');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let place = part[..digits].parse::<usize>().unwrap_or(0);
        let value = row.get(place.wrapping_sub(1)).unwrap_or(&Value::Null);
        values.push(bound(value));
        let _ = write!(out, "?{}", &part[digits..]);
    }
}

fn bound(value: &Value<'_>) -> mysql_async::Value {
    match value {
        Value::Null => mysql_async::Value::NULL,
        Value::Bool(value) => mysql_async::Value::Int(i64::from(*value)),
        Value::Int(value) => mysql_async::Value::Int(*value),
        Value::Text(value) => mysql_async::Value::Bytes(value.as_bytes().to_vec()),
        Value::OwnText(value) => mysql_async::Value::Bytes(value.as_bytes().to_vec()),
        Value::Bytes(value) => mysql_async::Value::Bytes(value.to_vec()),
        Value::OwnBytes(value) => mysql_async::Value::Bytes(value.clone()),
    }
}

/// A row of a result.
pub(super) struct Row(mysql_async::Row);

impl Row {
    fn value(&self, at: usize) -> Result<&mysql_async::Value> {
        self.0
            .as_ref(at)
            .ok_or_else(|| Error::Unreadable(format!("there is no column {at}")))
    }
}

impl Columns for Row {
    fn int(&self, at: usize) -> Result<Option<i64>> {
        let wrong = || Error::Unreadable(format!("column {at} is no number"));
        match self.value(at)? {
            mysql_async::Value::NULL => Ok(None),
            mysql_async::Value::Int(value) => Ok(Some(*value)),
            mysql_async::Value::UInt(value) => i64::try_from(*value).map(Some).map_err(|_| wrong()),
            mysql_async::Value::Bytes(text) => str::from_utf8(text)
                .ok()
                .and_then(|text| text.parse().ok())
                .map(Some)
                .ok_or_else(wrong),
            _ => Err(wrong()),
        }
    }

    fn bytes(&self, at: usize) -> Result<Option<Vec<u8>>> {
        match self.value(at)? {
            mysql_async::Value::NULL => Ok(None),
            mysql_async::Value::Bytes(bytes) => Ok(Some(bytes.clone())),
            _ => Err(Error::Unreadable(format!("column {at} is no text"))),
        }
    }
}

/// What the database said.
fn text(error: &mysql_async::Error) -> String {
    match error {
        // The message of a duplicate entry quotes it.
        mysql_async::Error::Server(said) if said.code == 1062 => {
            "duplicate entry (1062)".to_owned()
        }
        mysql_async::Error::Server(said) => format!("{} ({})", said.message, said.code),
        other => other.to_string(),
    }
}

fn trouble(error: &mysql_async::Error) -> Trouble {
    let said = text(error);
    match error {
        mysql_async::Error::Server(server) => match server.code {
            // Duplicate entry, lock wait timeout, deadlock, changed since last read. And no id: a row of another id has
            // the same name, which `ON DUPLICATE KEY UPDATE` would have changed; the statements make that an error.
            1062 | 1205 | 1213 | 1020 | 1048 => Trouble::Again(said),
            // Values that do not fit: too long, out of range, wrong for the character set, a failed check.
            1264 | 1265 | 1292 | 1366 | 1406 | 3819 | 4025 | 1153 | 1301 => {
                Trouble::Is(Error::Unreadable(said))
            }
            _ => Trouble::Is(Error::Unavailable(said)),
        },
        _ => Trouble::Is(Error::Unavailable(said)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_positions_and_braces_rows() {
        let rows: [&[Value<'_>]; 2] = [
            &[Value::Int(1), Value::Text("a")],
            &[Value::Int(2), Value::Null],
        ];
        let (text, values) = positional("x ?2 = ?2 {(?1, ?2)} ?1;", &rows);
        assert_eq!(text, "x ? = ? (?, ?), (?, ?) ?;");
        let texts: Vec<String> = values.iter().map(|value| value.as_sql(false)).collect();
        assert_eq!(texts, ["'a'", "'a'", "1", "'a'", "2", "NULL", "1"]);
    }
}
