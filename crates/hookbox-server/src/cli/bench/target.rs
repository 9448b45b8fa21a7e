//! Where load may go: nowhere but to this machine, unless it is said twice.

use std::net::SocketAddr;

use http::HeaderValue;
use http::uri::{PathAndQuery, Uri};
use url::Url;

use crate::cli::error::Error;

/// A server that load goes to.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// As it was named.
    pub(super) url: String,
    /// What the name stands for, asked once: what was judged is what is connected to.
    pub(super) addresses: Vec<SocketAddr>,
    /// The header `host`.
    pub(super) host: HeaderValue,
    path: String,
}

impl Target {
    /// Looks a URL up, and refuses what is not on this machine, unless `anywhere`.
    pub(super) async fn find(text: &str, anywhere: bool) -> Result<Self, Error> {
        let usage = |why: &str| Error::Usage(format!("'{text}' {why}"));
        let url = Url::parse(text)
            .map_err(|_| usage("is no URL; write for example http://127.0.0.1:8080"))?;
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(usage("names no host"));
        };
        if url.scheme() != "http" {
            return Err(usage(
                "is not plain http; measure the server itself, without what encrypts in front of it",
            ));
        }
        let addresses: Vec<_> = tokio::net::lookup_host((host.trim_matches(['[', ']']), port))
            .await
            .map_err(|_| Error::NoServer(text.to_owned()))?
            .collect();
        for address in &addresses {
            on_this_machine(*address, anywhere)?;
        }
        Ok(Self {
            url: text.trim_end_matches('/').to_owned(),
            addresses,
            host: HeaderValue::from_str(&format!("{host}:{port}"))
                .map_err(|_| usage("names a host that no header can"))?,
            path: url[url::Position::BeforePath..url::Position::AfterQuery].to_owned(),
        })
    }

    /// The path of the URL, with more behind it, as a request names it.
    pub(super) fn path(&self, more: &str) -> Result<Uri, Error> {
        let base = match more {
            "" => &self.path,
            _ => self.path.trim_end_matches('/'),
        };
        format!("{base}{more}")
            .parse::<PathAndQuery>()
            .map(Uri::from)
            .map_err(|_| Error::Usage(format!("'{base}{more}' cannot be asked for")))
    }
}

/// Refuses an address that is not this machine's own, unless `anywhere`.
pub(super) fn on_this_machine(address: SocketAddr, anywhere: bool) -> Result<(), Error> {
    if anywhere || address.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "{address} is not on this machine; load can do harm there. If it is yours, add --anywhere"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_this_machine() {
        for url in [
            "http://127.0.0.1:8080",
            "http://[::1]:80/in/stripe",
            "http://127.9.9.9",
            "http://[::ffff:127.0.0.1]:1",
        ] {
            assert!(Target::find(url, false).await.is_ok(), "{url}");
        }
        for url in [
            "http://192.0.2.1:8080",
            "http://0.0.0.0:8080",
            "http://[2001:db8::1]/",
            "https://127.0.0.1/",
            "127.0.0.1:8080",
        ] {
            let refused = Target::find(url, false).await;
            assert!(matches!(refused, Err(Error::Usage(_))), "{url}");
        }
        assert!(Target::find("http://192.0.2.1:8080", true).await.is_ok());
    }

    #[tokio::test]
    async fn paths() {
        let target = Target::find("http://127.0.0.1:8080/a/", false)
            .await
            .unwrap();
        assert_eq!(target.path("").unwrap().to_string(), "/a/");
        assert_eq!(target.path("/b").unwrap().to_string(), "/a/b");
        assert_eq!(target.host, "127.0.0.1:8080");
        assert!(target.path("/ ").is_err());
    }
}
