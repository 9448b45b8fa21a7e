//! How `PostgreSQL` is spoken to.

use std::error::Error as _;
use std::time::Duration;

use bytes::BytesMut;
use deadpool_postgres::{Manager, ManagerConfig, Object, RecyclingMethod};
use postgres_protocol::types as wire;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{FromSql, IsNull, Kind, ToSql, Type, to_sql_checked};

use super::sql::{Dialect, Statement};
use super::trouble::{Tried, Trouble};
use crate::store::columns::{Columns, Value};
use crate::store::{Error, Result};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(3);

/// Connections to one database.
#[derive(Clone)]
pub(super) struct Pool {
    pool: deadpool_postgres::Pool,
    /// Statements are prepared once for each connection. Not behind a proxy that gives each transaction another
    /// server: there a name may stand for another client's statement.
    named: bool,
}

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
    pub(super) fn new(config: &tokio_postgres::Config, size: usize, named: bool) -> Result<Self> {
        let manager = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let pool =
            deadpool_postgres::Pool::builder(Manager::from_config(config.clone(), tls()?, manager))
                .max_size(size)
                .build()
                .map_err(|error| Error::Unavailable(error.to_string()))?;
        Ok(Self { pool, named })
    }

    pub(super) async fn connection(&self) -> Result<Connection> {
        let object = self.pool.get().await.map_err(|error| match error {
            deadpool_postgres::PoolError::Backend(error) => Error::Unavailable(text(&error)),
            other => Error::Unavailable(other.to_string()),
        })?;
        Ok(Connection {
            object,
            named: self.named,
        })
    }
}

/// Whether the server sees this process itself at the other end: no proxy stands in between.
pub(super) async fn is_direct(config: &tokio_postgres::Config) -> Result<bool> {
    let (Some(Host::Tcp(host)), port) = (
        config.get_hosts().first(),
        config.get_ports().first().copied().unwrap_or(5432),
    ) else {
        // A proxy on a Unix socket says so in its address: see `settings`.
        return Ok(true);
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "the operator's own database, not a way out for anyone else"
    )]
    let stream = tokio::time::timeout(
        CONNECT,
        tokio::net::TcpStream::connect((host.as_str(), port)),
    )
    .await
    .map_err(|_| Error::Unavailable(format!("{host}:{port} does not answer")))?
    .map_err(|error| Error::Unavailable(format!("{host}:{port}: {error}")))?;
    let ours = stream
        .local_addr()
        .map(|address| i32::from(address.port()))
        .ok();
    let tls = tokio_postgres::tls::MakeTlsConnect::<tokio::net::TcpStream>::make_tls_connect(
        &mut tls()?,
        host,
    )
    .map_err(|error| Error::Unavailable(error.to_string()))?;
    let (client, connection) = config
        .connect_raw(stream, tls)
        .await
        .map_err(|error| Error::Unavailable(text(&error)))?;
    let driver = tokio::spawn(connection);
    let seen = client
        .query_typed("SELECT inet_client_port()", &[])
        .await
        .map_err(|error| Error::Unavailable(text(&error)))?;
    let theirs: Option<i32> = seen.first().and_then(|row| row.try_get(0).ok().flatten());
    drop(client);
    let _ = driver.await;
    Ok(theirs.is_some() && theirs == ours)
}

/// A connection in use.
pub(super) struct Connection {
    object: Object,
    named: bool,
}

impl Connection {
    /// Opens a transaction. What a node leaves behind when it stops in the middle holds nobody up for long.
    pub(super) async fn begin(&self, run: Duration) -> Tried<()> {
        let most = run.as_millis();
        let text = format!(
            "BEGIN; SET LOCAL statement_timeout = {most}; \
             SET LOCAL idle_in_transaction_session_timeout = {most}"
        );
        self.object.batch_execute(&text).await.map_err(trouble)
    }

    pub(super) async fn commit(&self) -> Tried<()> {
        match self.object.batch_execute("COMMIT").await {
            Ok(()) => Ok(()),
            Err(error) if error.code().is_some() => Err(trouble(error)),
            Err(error) => Err(Trouble::Unknown(text(&error))),
        }
    }

    pub(super) async fn rollback(&self) -> Tried<()> {
        self.object.batch_execute("ROLLBACK").await.map_err(trouble)
    }

    /// Many statements in one text.
    pub(super) async fn batch(&self, text: &str) -> Tried<()> {
        self.object.batch_execute(text).await.map_err(trouble)
    }

    /// Runs a statement with these values, and returns its rows.
    pub(super) async fn query(
        &self,
        statement: Statement,
        values: &[&(dyn ToSql + Sync)],
    ) -> Tried<Vec<Row>> {
        let text = statement.text(Dialect::Postgres);
        let rows = if self.named {
            let prepared = self.object.prepare_cached(&text).await.map_err(trouble)?;
            self.object.query(&prepared, values).await
        } else {
            let typed: Vec<_> = values.iter().copied().zip(types(&text)).collect();
            self.object.query_typed(&text, &typed).await
        };
        Ok(rows.map_err(trouble)?.into_iter().map(Row).collect())
    }

    /// Runs a statement with these values, and returns how many rows it touched.
    pub(super) async fn execute(
        &self,
        statement: Statement,
        values: &[&(dyn ToSql + Sync)],
    ) -> Tried<u64> {
        let text = statement.text(Dialect::Postgres);
        if self.named {
            let prepared = self.object.prepare_cached(&text).await.map_err(trouble)?;
            self.object.execute(&prepared, values).await
        } else {
            let typed: Vec<_> = values.iter().copied().zip(types(&text)).collect();
            self.object.execute_typed(&text, &typed).await
        }
        .map_err(trouble)
    }

    /// Ends the connection instead of giving it back.
    pub(super) fn discard(self) {
        drop(Object::take(self.object));
    }
}

/// The types of a statement's parameters: each is cast where it stands first.
fn types(text: &str) -> Vec<Type> {
    let mut types = Vec::new();
    while let Some(at) = text.find(&format!("${}::", types.len() + 1)) {
        let cast = text[at..].split_once("::").map_or("", |(_, rest)| rest);
        let end = cast
            .find(|c: char| !c.is_ascii_lowercase() && c != '[' && c != ']')
            .unwrap_or(cast.len());
        types.push(match &cast[..end] {
            "uuid" => Type::UUID,
            "uuid[]" => Type::UUID_ARRAY,
            "bigint" => Type::INT8,
            "bigint[]" => Type::INT8_ARRAY,
            "boolean" => Type::BOOL,
            "boolean[]" => Type::BOOL_ARRAY,
            "bytea" => Type::BYTEA,
            "bytea[]" => Type::BYTEA_ARRAY,
            "text[]" => Type::TEXT_ARRAY,
            _ => Type::TEXT,
        });
    }
    types
}

/// A value of each row, as one array.
#[derive(Debug)]
pub(super) struct Array<'a, 'b>(pub(super) Vec<&'b Value<'a>>);

type BoxedError = Box<dyn std::error::Error + Sync + Send>;

impl ToSql for Array<'_, '_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> std::result::Result<IsNull, BoxedError> {
        let Kind::Array(element) = ty.kind() else {
            return Err(format!("{ty} is no array").into());
        };
        let dimension = wire::ArrayDimension {
            len: i32::try_from(self.0.len())?,
            lower_bound: 1,
        };
        wire::array_to_sql(
            Some(dimension),
            element.oid(),
            self.0.iter(),
            |value, out| {
                value.to_sql(element, out).map(|null| match null {
                    IsNull::Yes => postgres_protocol::IsNull::Yes,
                    IsNull::No => postgres_protocol::IsNull::No,
                })
            },
            out,
        )?;
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl ToSql for Value<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> std::result::Result<IsNull, BoxedError> {
        match (self, ty) {
            (Self::Null, _) => return Ok(IsNull::Yes),
            (Self::Bool(value), _) => wire::bool_to_sql(*value, out),
            (Self::Int(value), &Type::INT4) => wire::int4_to_sql(i32::try_from(*value)?, out),
            (Self::Int(value), _) => wire::int8_to_sql(*value, out),
            (Self::Text(value), _) => wire::text_to_sql(value, out),
            (Self::OwnText(value), _) => wire::text_to_sql(value, out),
            (Self::Bytes(value), _) => wire::bytea_to_sql(value, out),
            (Self::OwnBytes(value), _) => wire::bytea_to_sql(value, out),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A row of a result.
pub(super) struct Row(tokio_postgres::Row);

/// A value as it came, whatever its type.
struct Raw<'a>(&'a Type, &'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> std::result::Result<Self, BoxedError> {
        // The type lives as long as the row, but is lent for less: these are constants.
        let ty = match *ty {
            Type::BOOL => &Type::BOOL,
            Type::INT4 => &Type::INT4,
            Type::INT8 => &Type::INT8,
            _ => &Type::BYTEA,
        };
        Ok(Self(ty, raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl Columns for Row {
    fn int(&self, at: usize) -> Result<Option<i64>> {
        let value: Option<Raw<'_>> = self.0.try_get(at).map_err(unreadable)?;
        value
            .map(|Raw(ty, raw)| match *ty {
                Type::BOOL => wire::bool_from_sql(raw).map(i64::from),
                Type::INT4 => wire::int4_from_sql(raw).map(i64::from),
                _ => wire::int8_from_sql(raw),
            })
            .transpose()
            .map_err(|error| Error::Unreadable(error.to_string()))
    }

    fn text(&self, at: usize) -> Result<Option<String>> {
        self.bytes(at)?
            .map(|bytes| {
                String::from_utf8(bytes).map_err(|error| Error::Unreadable(error.to_string()))
            })
            .transpose()
    }

    fn bytes(&self, at: usize) -> Result<Option<Vec<u8>>> {
        let value: Option<Raw<'_>> = self.0.try_get(at).map_err(unreadable)?;
        Ok(value.map(|Raw(_, raw)| raw.to_vec()))
    }
}

fn unreadable(error: tokio_postgres::Error) -> Error {
    Error::Unreadable(text(&error))
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

fn trouble(error: tokio_postgres::Error) -> Trouble {
    let said = text(&error);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_has_the_type_of_its_cast() {
        let text = "SELECT $2::text WHERE a = $1::uuid[] AND b = $1 AND c < $3::bigint)";
        assert_eq!(types(text), [Type::UUID_ARRAY, Type::TEXT, Type::INT8]);
        assert_eq!(types("SELECT 1"), []);
    }
}
