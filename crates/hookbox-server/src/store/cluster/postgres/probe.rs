//! Whether a proxy stands between this process and its database.

use tokio_postgres::config::Host;

use super::{ANSWER, text, tls};
use crate::store::{Error, Result};

/// Whether the server sees this process itself at the other end: no proxy stands in between.
pub(in crate::store::cluster) async fn is_direct(config: &tokio_postgres::Config) -> Result<bool> {
    let mut failed = Error::Unavailable("the address names no host".into());
    for (place, host) in config.get_hosts().iter().enumerate() {
        let ports = config.get_ports();
        let port = ports.get(place).or(ports.first()).copied().unwrap_or(5432);
        let ask = async {
            match host {
                Host::Tcp(host) => is_direct_over_tcp(config, host, port).await,
                Host::Unix(_) => is_direct_over_a_socket(config, port).await,
            }
        };
        match tokio::time::timeout(ANSWER, ask).await {
            Ok(Ok(direct)) => return Ok(direct),
            Ok(Err(error)) => failed = error,
            Err(_) => failed = does_not_answer(host, port),
        }
    }
    Err(failed)
}

fn does_not_answer(host: &Host, port: u16) -> Error {
    let place = match host {
        Host::Tcp(host) => format!("{host}:{port}"),
        Host::Unix(folder) => format!("{}, port {port}", folder.display()),
    };
    Error::Unavailable(format!("no PostgreSQL answers at {place}"))
}

/// The port that the server sees is the one that this process speaks from.
async fn is_direct_over_tcp(
    config: &tokio_postgres::Config,
    host: &str,
    port: u16,
) -> Result<bool> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the operator's own database, not a way out for anyone else"
    )]
    let stream = tokio::net::TcpStream::connect((host, port))
        .await
        .map_err(|error| Error::Unavailable(format!("{host}:{port}: {error}")))?;
    let ours = stream.local_addr().map(|address| address.port()).ok();
    let tls = tokio_postgres::tls::MakeTlsConnect::<tokio::net::TcpStream>::make_tls_connect(
        &mut tls()?,
        host,
    )
    .map_err(|error| Error::Unavailable(error.to_string()))?;
    let (client, connection) = config
        .connect_raw(stream, tls)
        .await
        .map_err(|error| Error::Unavailable(text(&error)))?;
    let theirs = asked_port(client, connection, "SELECT inet_client_port()").await?;
    Ok(theirs.is_some() && theirs == ours)
}

/// The server has the socket of its own port; a proxy has one of another.
async fn is_direct_over_a_socket(config: &tokio_postgres::Config, port: u16) -> Result<bool> {
    let (client, connection) = config
        .connect(tokio_postgres::NoTls)
        .await
        .map_err(|error| Error::Unavailable(text(&error)))?;
    let servers = asked_port(client, connection, "SELECT current_setting('port')::int4").await?;
    Ok(servers == Some(port))
}

/// The number that a statement answers, from a connection that is made for it alone.
async fn asked_port(
    client: tokio_postgres::Client,
    connection: impl Future<Output = std::result::Result<(), tokio_postgres::Error>> + Send + 'static,
    statement: &str,
) -> Result<Option<u16>> {
    let driver = tokio::spawn(connection);
    let rows = client
        .query_typed(statement, &[])
        .await
        .map_err(|error| Error::Unavailable(text(&error)))?;
    let port: Option<i32> = rows.first().and_then(|row| row.try_get(0).ok().flatten());
    drop(client);
    let _ = driver.await;
    Ok(port.and_then(|port| u16::try_from(port).ok()))
}
