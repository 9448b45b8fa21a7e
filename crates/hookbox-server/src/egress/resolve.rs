//! Names to addresses, within a budget, every one of them judged.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::policy::Policy;
use super::target::is_localhost;

/// How long a name may take.
const BUDGET: Duration = Duration::from_secs(3);
/// Names resolved at once. The system's resolver blocks a thread for each.
const AT_ONCE: usize = 32;
/// More addresses than an honest name has are not looked at.
const MOST: usize = 16;

/// Where names are looked up.
#[derive(Clone, Debug)]
pub enum Resolver {
    /// The system's resolver.
    System(Arc<Semaphore>),
    /// These answers, in turn for each name, the last one for ever; a name without one gets no answer. For
    /// tests.
    Fixed(Arc<std::sync::Mutex<HashMap<String, Vec<Vec<IpAddr>>>>>),
}

/// Why a name gave no address to connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoAddress {
    /// There is no such name, or it has no address.
    Unresolved,
    /// Nobody says: the resolver is out of order, or whoever it asks.
    NoAnswer,
    /// It stands for an address that may not be reached, perhaps among others that may.
    Refused,
}

impl Resolver {
    /// The system's resolver.
    #[must_use]
    pub fn system() -> Self {
        Self::System(Arc::new(Semaphore::new(AT_ONCE)))
    }

    /// Fixed answers by name: a list for each look-up. For tests.
    #[must_use]
    pub fn fixed(answers: impl IntoIterator<Item = (String, Vec<Vec<IpAddr>>)>) -> Self {
        Self::Fixed(Arc::new(std::sync::Mutex::new(
            answers.into_iter().collect(),
        )))
    }

    /// Whether a name stands for any address. Only looks it up.
    pub async fn knows(&self, host: &str) -> bool {
        let found = self.addresses(host, 0, &Policy::Trusted).await;
        !matches!(found, Err(NoAddress::Unresolved))
    }

    /// The addresses of a host, all of which may be reached.
    ///
    /// One that may not refuses the whole host: such an answer is an attack or a mistake.
    pub(super) async fn addresses(
        &self,
        host: &str,
        port: u16,
        policy: &Policy,
    ) -> Result<Vec<SocketAddr>, NoAddress> {
        let host = host
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .unwrap_or(host);
        let found = if let Ok(literal) = host.parse::<IpAddr>() {
            vec![literal]
        } else if is_localhost(host) {
            vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
        } else {
            self.look_up(host, policy).await?
        };
        let targets: Vec<_> = found
            .into_iter()
            .map(|address| SocketAddr::new(address, port))
            .collect();
        if targets.is_empty() {
            return Err(NoAddress::Unresolved);
        }
        // `localhost` is two addresses by definition, and the operator may have allowed one of them.
        if is_localhost(host) {
            let allowed: Vec<_> = targets
                .into_iter()
                .filter(|target| policy.judge(*target).is_ok())
                .collect();
            return if allowed.is_empty() {
                Err(NoAddress::Refused)
            } else {
                Ok(allowed)
            };
        }
        let refused =
            targets.len() > MOST || targets.iter().any(|target| policy.judge(*target).is_err());
        if refused {
            Err(NoAddress::Refused)
        } else {
            Ok(targets)
        }
    }

    async fn look_up(&self, host: &str, policy: &Policy) -> Result<Vec<IpAddr>, NoAddress> {
        match self {
            Self::System(turns) => tokio::time::timeout(BUDGET, system(host, policy, turns))
                .await
                .unwrap_or(Err(NoAddress::NoAnswer)),
            Self::Fixed(answers) => {
                let mut answers = answers
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                let lists = answers.get_mut(host).ok_or(NoAddress::Unresolved)?;
                match lists.as_slice() {
                    [] => Err(NoAddress::NoAnswer),
                    [last] => Ok(last.clone()),
                    _ => Ok(lists.remove(0)),
                }
            }
        }
    }
}

async fn system(host: &str, policy: &Policy, turns: &Semaphore) -> Result<Vec<IpAddr>, NoAddress> {
    let _turn = turns.acquire().await.map_err(|_| NoAddress::NoAnswer)?;
    // A stranger's name is whole: the search domains of this machine must not make another name of it.
    let name = match policy {
        Policy::Stranger { .. } if !host.ends_with('.') => format!("{host}.:0"),
        Policy::Stranger { .. } | Policy::Trusted => format!("{host}:0"),
    };
    let found = tokio::net::lookup_host(name)
        .await
        .map_err(|error| meaning(&error))?;
    let mut addresses: Vec<IpAddr> = found.map(|target| target.ip()).collect();
    addresses.dedup();
    Ok(addresses)
}

/// What a failed look-up says. The standard library keeps of `EAI_AGAIN` only its words.
fn meaning(error: &std::io::Error) -> NoAddress {
    // glibc and the BSDs, musl, FreeBSD.
    const AGAIN: [&str; 3] = [
        "Temporary failure in name resolution",
        "Try again",
        "Name could not be resolved at this time",
    ];
    let words = error.to_string();
    // An error of the system's own has a number: it could not even ask.
    let asked = error.raw_os_error().is_none();
    if asked && !AGAIN.iter().any(|again| words.contains(again)) {
        NoAddress::Unresolved
    } else {
        NoAddress::NoAnswer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resolver_that_is_down_is_told_from_a_name_that_is_not() {
        let failed = |words: &str| {
            let words = format!("failed to lookup address information: {words}");
            meaning(&std::io::Error::other(words))
        };
        for (words, means) in [
            ("Name or service not known", NoAddress::Unresolved),
            ("No address associated with hostname", NoAddress::Unresolved),
            ("Temporary failure in name resolution", NoAddress::NoAnswer),
            ("Try again", NoAddress::NoAnswer),
        ] {
            assert_eq!(failed(words), means, "{words}");
        }
        let no_files = std::io::Error::from_raw_os_error(24);
        assert_eq!(meaning(&no_files), NoAddress::NoAnswer);
    }
}
