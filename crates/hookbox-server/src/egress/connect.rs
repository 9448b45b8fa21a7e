//! Connecting to a judged address, and to no other.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http::Uri;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::policy::Policy;
use super::resolve::{NoAddress, Resolver};
use super::stream::Stream;
use super::target::{self, BadUrl};

const CONNECT: Duration = Duration::from_secs(5);
const TLS: Duration = Duration::from_secs(5);
/// Addresses of one host that are tried, one after the other.
const DIALLED: usize = 3;
/// How long that may take in all. It leaves time for the name within a try, so that an address that does not answer
/// is known for what it is.
const DIALLING: Duration = Duration::from_secs(10);

/// Why there is no connection.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum NoConnection {
    #[error("the target is not allowed")]
    Refused,
    #[error("the name could not be resolved")]
    Unresolved,
    #[error("the resolver did not answer")]
    NoResolver,
    #[error("no connection: {0}")]
    Connect(String),
    #[error("no connection: {0}")]
    ConnectRefused(String),
    #[error("no connection: {0}")]
    Unreachable(String),
    #[error("no secure connection: {0}")]
    Tls(String),
}

/// Makes connections for one policy.
#[derive(Clone, Debug)]
pub(super) struct Connector {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    policy: Policy,
    resolver: Resolver,
    /// Made when first needed, so that a machine without certificates can still serve plain HTTP.
    tls: OnceLock<Result<Arc<ClientConfig>, String>>,
}

impl Connector {
    pub(super) fn new(policy: Policy, resolver: Resolver) -> Self {
        Self {
            shared: Arc::new(Shared {
                policy,
                resolver,
                tls: OnceLock::new(),
            }),
        }
    }
}

impl tower_service::Service<Uri> for Connector {
    type Response = TokioIo<Stream>;
    type Error = NoConnection;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, NoConnection>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), NoConnection>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move { shared.connect(&uri).await.map(TokioIo::new) })
    }
}

impl Shared {
    async fn connect(&self, uri: &Uri) -> Result<Stream, NoConnection> {
        let secure = uri.scheme_str() == Some("https");
        let host = uri.host().unwrap_or_default();
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        // Rules may have changed since the endpoint was made.
        let url = format!(
            "{}://{}/",
            uri.scheme_str().unwrap_or_default(),
            uri.authority().map_or("", |at| at.as_str())
        );
        target::check(&url, &self.policy).map_err(|bad| match bad {
            BadUrl::NotAUrl | BadUrl::TooLong | BadUrl::Ambiguous => {
                NoConnection::Connect(bad.to_string())
            }
            BadUrl::Http | BadUrl::Credentials | BadUrl::Port | BadUrl::Refused => {
                NoConnection::Refused
            }
        })?;
        let addresses = self
            .resolver
            .addresses(host, port, &self.policy)
            .await
            .map_err(|none| match none {
                NoAddress::Refused => NoConnection::Refused,
                NoAddress::Unresolved => NoConnection::Unresolved,
                NoAddress::NoAnswer => NoConnection::NoResolver,
            })?;
        let stream = self.dial(&addresses).await?;
        if secure {
            self.secure(stream, host).await
        } else {
            Ok(Stream::Plain(stream))
        }
    }

    async fn dial(&self, addresses: &[SocketAddr]) -> Result<TcpStream, NoConnection> {
        let began = Instant::now();
        let mut last = NoConnection::Connect("no address".to_owned());
        for address in addresses.iter().take(DIALLED) {
            let patience = CONNECT.min(DIALLING.saturating_sub(began.elapsed()));
            #[expect(clippy::disallowed_methods, reason = "this is the way out")]
            let connected = timeout(patience, TcpStream::connect(address)).await;
            let failed = match connected {
                Ok(Ok(stream)) => return self.checked(stream),
                Ok(Err(error)) => no_connection(&error),
                Err(_) => NoConnection::Unreachable("timed out".to_owned()),
            };
            // That one address was reached says more than that another was not.
            if !matches!(last, NoConnection::ConnectRefused(_)) {
                last = failed;
            }
        }
        Err(last)
    }

    /// The peer is judged once more, as the system names it.
    fn checked(&self, stream: TcpStream) -> Result<TcpStream, NoConnection> {
        let failed = |error: std::io::Error| NoConnection::Connect(error.to_string());
        stream.set_nodelay(true).map_err(failed)?;
        let peer = stream.peer_addr().map_err(failed)?;
        self.policy.judge(peer).map_err(|_| NoConnection::Refused)?;
        Ok(stream)
    }

    async fn secure(&self, stream: TcpStream, host: &str) -> Result<Stream, NoConnection> {
        let failed = |error: &dyn std::fmt::Display| NoConnection::Tls(error.to_string());
        let config = self
            .tls
            .get_or_init(tls_config)
            .clone()
            .map_err(NoConnection::Tls)?;
        let host = host
            .trim_start_matches('[')
            .trim_end_matches([']', '.'])
            .to_owned();
        let name = ServerName::try_from(host).map_err(|error| failed(&error))?;
        match timeout(TLS, TlsConnector::from(config).connect(name, stream)).await {
            Ok(Ok(stream)) => Ok(Stream::Tls(Box::new(stream))),
            Ok(Err(error)) => Err(failed(&error)),
            Err(_) => Err(failed(&"timed out")),
        }
    }
}

fn no_connection(error: &std::io::Error) -> NoConnection {
    let words = error.to_string();
    match error.kind() {
        ErrorKind::ConnectionRefused => NoConnection::ConnectRefused(words),
        ErrorKind::NetworkUnreachable
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkDown
        | ErrorKind::TimedOut => NoConnection::Unreachable(words),
        _ => NoConnection::Connect(words),
    }
}

fn tls_config() -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_platform_verifier())
        .map_err(|error| error.to_string())?
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
