//! Who may reach what.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use ipnet::IpNet;

use super::address;

/// What the endpoints of one kind may reach.
#[derive(Clone, Debug)]
pub enum Policy {
    /// The operator wrote the address: any may be reached, over HTTP too.
    Trusted,
    /// A stranger wrote it.
    Stranger {
        /// What they may reach although it would be refused.
        allow: AllowList,
        /// Whether they may use HTTP without TLS.
        allow_http: bool,
    },
}

impl Policy {
    /// Judges an address that a name stands for, or that stands in a URL itself.
    ///
    /// # Errors
    /// Why it may not be reached.
    pub fn judge(&self, target: SocketAddr) -> Result<(), address::Refused> {
        match self {
            Self::Trusted => Ok(()),
            Self::Stranger { allow, .. } if allow.contains(target.ip(), target.port()) => Ok(()),
            Self::Stranger { .. } => address::judge(target.ip()),
        }
    }
}

/// Networks that strangers may reach although they would be refused: `10.1.0.0/16,127.0.0.1:9700,[fd00::/8]:443`.
///
/// Each is a network or an address, and may name the one port that it is meant for. An IPv6 network stands in
/// brackets when a port follows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowList(Vec<(IpNet, Option<u16>)>);

impl AllowList {
    /// Whether the list names this address, at this port.
    #[must_use]
    pub fn contains(&self, address: IpAddr, port: u16) -> bool {
        self.0
            .iter()
            .any(|(net, only)| net.contains(&address) && only.is_none_or(|only| only == port))
    }

    /// Whether the list names this very port somewhere.
    #[must_use]
    pub fn names_port(&self, port: u16) -> bool {
        self.0.iter().any(|(_, only)| *only == Some(port))
    }

    /// Whether nothing is allowed beyond the rule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Display for AllowList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (n, (net, port)) in self.0.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            match (net, port) {
                (net, None) => write!(f, "{comma}{net}")?,
                (IpNet::V4(net), Some(port)) => write!(f, "{comma}{net}:{port}")?,
                (IpNet::V6(net), Some(port)) => write!(f, "{comma}[{net}]:{port}")?,
            }
        }
        Ok(())
    }
}

/// A part of an allow-list that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a network; write for example 10.1.0.0/16, 127.0.0.1:9700 or [fd00::/8]:443")]
pub struct NotANetwork(String);

impl FromStr for AllowList {
    type Err = NotANetwork;

    fn from_str(text: &str) -> Result<Self, NotANetwork> {
        let parts = text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        parts
            .map(|part| entry(part).ok_or_else(|| NotANetwork(part.to_owned())))
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

fn entry(text: &str) -> Option<(IpNet, Option<u16>)> {
    if let Some(net) = network(text) {
        return Some((net, None));
    }
    let (net, port) = text.rsplit_once(':')?;
    let net = match net.strip_prefix('[') {
        Some(net) => network(net.strip_suffix(']')?).filter(|net| matches!(net, IpNet::V6(_)))?,
        None => network(net).filter(|net| matches!(net, IpNet::V4(_)))?,
    };
    Some((net, Some(port.parse().ok()?)))
}

fn network(text: &str) -> Option<IpNet> {
    text.parse()
        .ok()
        .or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_networks_with_and_without_a_port() {
        let list: AllowList = "127.0.0.0/8:9700, 10.1.0.0/16,[fd00::/8]:443,::1"
            .parse()
            .unwrap();
        let allowed = |target: &str| {
            let target: SocketAddr = target.parse().unwrap();
            list.contains(target.ip(), target.port())
        };
        for target in [
            "127.0.0.1:9700",
            "127.9.9.9:9700",
            "10.1.2.3:1",
            "[fd00::1]:443",
            "[::1]:80",
        ] {
            assert!(allowed(target), "{target}");
        }
        for target in ["127.0.0.1:80", "10.2.0.1:1", "[fd00::1]:80", "[::2]:80"] {
            assert!(!allowed(target), "{target}");
        }
        assert_eq!(
            list.to_string(),
            "127.0.0.0/8:9700,10.1.0.0/16,[fd00::/8]:443,::1/128"
        );
        assert_eq!(list.to_string().parse(), Ok(list));
        assert!("".parse::<AllowList>().unwrap().is_empty());
    }

    #[test]
    fn refuses_what_is_no_network() {
        for text in [
            "x",
            "10.0.0.0/33",
            "10.0.0.0/8:x",
            "10.0.0.0/8:99999",
            "[10.0.0.0/8]:1",
            "localhost",
            "[::1",
        ] {
            assert_eq!(
                text.parse::<AllowList>(),
                Err(NotANetwork(text.to_owned())),
                "{text}"
            );
        }
    }

    #[test]
    fn a_stranger_reaches_what_is_public_or_allowed() {
        let allow = "127.0.0.1:9700".parse().unwrap();
        let stranger = Policy::Stranger {
            allow,
            allow_http: false,
        };
        let judge = |policy: &Policy, target: &str| policy.judge(target.parse().unwrap()).is_ok();
        assert!(judge(&stranger, "1.1.1.1:443") && judge(&stranger, "127.0.0.1:9700"));
        assert!(!judge(&stranger, "127.0.0.1:9701"));
        assert!(judge(&Policy::Trusted, "127.0.0.1:22"));
    }
}
