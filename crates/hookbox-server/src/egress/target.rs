//! What a stranger's URL may be. Asked when an endpoint is made or changed, and again at every delivery.
//!
//! Nothing is resolved here: a name is judged by what it stands for when it is connected to.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use url::{Host, Url};

use super::policy::Policy;

/// The longest URL, in bytes.
pub const LONGEST_URL: usize = 2048;

/// Names below these are for use inside a network.
const INSIDE: [&str; 10] = [
    "internal",
    "local",
    "localdomain",
    "lan",
    "home",
    "corp",
    "intranet",
    "private",
    "svc",
    "home.arpa",
];

/// Ports of other protocols, on which a POST could do harm: those that browsers block.
/// (Fetch standard, "port blocking")
const BAD_PORTS: [u16; 81] = [
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
    103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
    512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
    995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667,
    6668, 6669, 6697,
];

/// Why a URL may not be an endpoint's. The sentences say nothing of what lies behind an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadUrl {
    /// It is too long.
    #[error("the URL is longer than {LONGEST_URL} bytes")]
    TooLong,
    /// Different programs read such a URL differently.
    #[error("the URL has a space, a control character or a backslash in it")]
    Ambiguous,
    /// It is no URL, or not one of the web.
    #[error("write a whole URL, for example https://example.com/webhooks")]
    NotAUrl,
    /// It is not encrypted.
    #[error("use https; the operator has not allowed http")]
    Http,
    /// It carries a user or a password.
    #[error("the URL has a user name or password in it; send credentials in a header instead")]
    Credentials,
    /// It is for another protocol.
    #[error("the port is not allowed")]
    Port,
    /// It may not be reached.
    #[error("the target is not allowed")]
    Refused,
}

/// Checks a URL against a policy, and returns its normalized form.
///
/// # Errors
/// Why it cannot be an endpoint's.
pub fn check(text: &str, policy: &Policy) -> Result<Url, BadUrl> {
    if text.len() > LONGEST_URL {
        return Err(BadUrl::TooLong);
    }
    // The parser would remove some of these without a word, and turn others into slashes.
    if text
        .chars()
        .any(|c| c <= ' ' || c == '\\' || c == '\u{7f}' || (!c.is_ascii() && c.is_whitespace()))
    {
        return Err(BadUrl::Ambiguous);
    }
    let scheme = text
        .split("://")
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let rest = text.get(scheme.len() + 3..).unwrap_or_default();
    if !matches!(scheme.as_str(), "http" | "https") || rest.starts_with('/') {
        return Err(BadUrl::NotAUrl);
    }
    let mut url = Url::parse(text).map_err(|_| BadUrl::NotAUrl)?;
    url.set_fragment(None);
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BadUrl::Credentials);
    }
    let port = url
        .port_or_known_default()
        .filter(|port| *port != 0)
        .ok_or(BadUrl::Port)?;
    let host = url.host().ok_or(BadUrl::NotAUrl)?;
    if let Policy::Stranger { allow, allow_http } = policy {
        if url.scheme() == "http" && !allow_http {
            return Err(BadUrl::Http);
        }
        if BAD_PORTS.contains(&port) && !allow.names_port(port) {
            return Err(BadUrl::Port);
        }
        judge_host(&host, port, policy)?;
    }
    Ok(url)
}

fn judge_host(host: &Host<&str>, port: u16, policy: &Policy) -> Result<(), BadUrl> {
    let literal = match host {
        Host::Ipv4(address) => IpAddr::V4(*address),
        Host::Ipv6(address) => IpAddr::V6(*address),
        Host::Domain(name) if is_localhost(name) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        Host::Domain(name) => return judge_name(name),
    };
    policy
        .judge(SocketAddr::new(literal, port))
        .map_err(|_| BadUrl::Refused)
}

fn judge_name(name: &str) -> Result<(), BadUrl> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let inside = INSIDE.iter().any(|suffix| {
        name.strip_suffix(suffix)
            .is_some_and(|rest| rest.ends_with('.'))
    });
    let single = !name.contains('.');
    if name.len() > 253 || single || inside || name.starts_with("metadata.") {
        Err(BadUrl::Refused)
    } else {
        Ok(())
    }
}

/// Whether a name is loopback by definition, whatever a resolver says. (RFC 6761)
pub(super) fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stranger(allow: &str, allow_http: bool) -> Policy {
        Policy::Stranger {
            allow: allow.parse().unwrap(),
            allow_http,
        }
    }

    #[test]
    fn normalizes_what_is_allowed() {
        let policy = stranger("", false);
        for (text, normal) in [
            ("https://example.com", "https://example.com/"),
            (
                "HTTPS://EXAMPLE.com:443/a/../b#part",
                "https://example.com/b",
            ),
            ("https://faß.de/", "https://xn--fa-hia.de/"),
            ("https://аррӏе.com/", "https://xn--80ak6aa92e.com/"),
            ("https://ａｐｐｌｅ.com/", "https://apple.com/"),
            ("https://a_b.com/", "https://a_b.com/"),
            ("https://127.0.0.1.nip.io/", "https://127.0.0.1.nip.io/"),
            (
                "https://example.com:8443/x?y=1",
                "https://example.com:8443/x?y=1",
            ),
            ("https://1.1.1.1/", "https://1.1.1.1/"),
            ("https://example.com:/", "https://example.com/"),
        ] {
            assert_eq!(
                check(text, &policy).map(|url| url.to_string()),
                Ok(normal.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn refuses_every_spelling_of_what_is_not() {
        let policy = stranger("", true);
        let table = [
            (
                BadUrl::Refused,
                vec![
                    "http://2130706433/",
                    "http://0x7f000001/",
                    "http://0x7f.1/",
                    "http://127.1/",
                    "http://127.0.1/",
                    "http://0/",
                    "http://0x0/",
                    "http://127.0.0.1./",
                    "http://①②⑦.⓪.⓪.①/",
                    "http://127。0。0。1/",
                    "http://%31%32%37.0.0.1/",
                    "http://[::ffff:127.0.0.1]/",
                    "http://[::127.0.0.1]/",
                    "http://[64:ff9b::a9fe:a9fe]/",
                    "http://[2002:a9fe:a9fe::1]/",
                    "http://[2001:0:1::1]/",
                    "http://[::]/",
                    "http://[2606:4700::5efe:7f00:1]/",
                    "http://169.254.169.254/latest/",
                    "http://[fd00:ec2::254]/",
                    "http://100.100.100.200/",
                    "http://168.63.129.16/",
                    "http://metadata.google.internal/",
                    "http://kubernetes.default.svc/",
                    "http://host.docker.internal/",
                    "http://redis/",
                    "http://localhost/",
                    "http://a.localhost/",
                    "http://localhost./",
                    "http://printer.local/",
                ],
            ),
            (
                BadUrl::Ambiguous,
                vec![
                    "http://127.0.0.\t1/",
                    "http://ex\nample.com/",
                    " http://example.com/",
                    "http://example.com\\@127.0.0.1/",
                    "http://example.com/a b",
                    "http://example.com/\u{2003}",
                    "http://example.com/\u{7f}",
                ],
            ),
            (
                BadUrl::NotAUrl,
                vec![
                    "",
                    "x",
                    "example.com",
                    "http:127.0.0.1/",
                    "http:///127.0.0.1/",
                    "http:/127.0.0.1/",
                    "ftp://example.com/",
                    "file:///etc/passwd",
                    "http://[fe80::1%25eth0]/",
                    "http://xn--/",
                    "http://a.com:65536/",
                    "http://a.com:99999999999/",
                    "http://",
                    "javascript:alert(1)",
                ],
            ),
            (
                BadUrl::Credentials,
                vec![
                    "http://example.com@127.0.0.1/",
                    "http://user:pw@example.com/",
                ],
            ),
            (
                BadUrl::Port,
                vec![
                    "http://a.com:0/",
                    "http://a.com:22/",
                    "http://a.com:25/",
                    "http://a.com:6379/",
                ],
            ),
        ];
        for (why, texts) in table {
            for text in texts {
                assert_eq!(check(text, &policy), Err(why), "{text}");
            }
        }
        assert_eq!(
            check("http://example.com/", &stranger("", false)),
            Err(BadUrl::Http)
        );
        let long = format!("https://example.com/{}", "a".repeat(LONGEST_URL));
        assert_eq!(check(&long, &policy), Err(BadUrl::TooLong));
    }

    #[test]
    fn an_operator_may_allow_more() {
        let policy = stranger("127.0.0.0/8:9700,10.0.0.0/8:6379", true);
        for text in [
            "http://127.0.0.1:9700/",
            "http://localhost:9700/",
            "http://10.0.0.1:6379/",
        ] {
            assert!(check(text, &policy).is_ok(), "{text}");
        }
        assert_eq!(
            check("http://127.0.0.1:9701/", &policy),
            Err(BadUrl::Refused)
        );
        assert!(check("http://app:3000/hook", &Policy::Trusted).is_ok());
    }
}
