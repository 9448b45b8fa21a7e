//! Where everything is kept.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::model::Secret;

/// Where everything is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Database {
    /// A file that one process has.
    Sqlite(PathBuf),
    /// A server that many nodes share, by its address, which may hold a password.
    Shared(Secret),
}

impl FromStr for Database {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("sqlite", path)) => match path.strip_prefix("//").unwrap_or(path) {
                "" => Err("write sqlite: and a path".to_owned()),
                path => Ok(Self::Sqlite(path.into())),
            },
            Some(("postgres" | "postgresql" | "mysql", rest)) if rest.starts_with("//") => {
                if has_bare_password(rest) {
                    return Err(
                        "write @ in a user or password as %40, / as %2F, ? as %3F, # as %23"
                            .to_owned(),
                    );
                }
                Ok(Self::Shared(Secret::new(text)))
            }
            _ => Err("write sqlite:PATH, postgres://USER:PASSWORD@HOST/NAME or \
                      mysql://USER:PASSWORD@HOST/NAME"
                .to_owned()),
        }
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "{}", path.display()),
            Self::Shared(url) => f.write_str(&without_password(url.expose())),
        }
    }
}

/// Whether an `@` stands where none belongs, before or after the host: then the password holds something that ends it
/// too early, and the rest of it would be taken for the host, looked up and shown.
fn has_bare_password(rest: &str) -> bool {
    let rest = rest.trim_start_matches('/');
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, after) = rest.split_at(end);
    let path = match after.strip_prefix('/') {
        Some(path) => path.split(['?', '#']).next().unwrap_or(path),
        None => after,
    };
    authority.matches('@').count() > 1 || path.contains('@')
}

/// An address as it may be shown: what stands between the user's name and the `@` is left out.
#[must_use]
pub fn without_password(text: &str) -> String {
    let shown = || {
        let (scheme, rest) = text.split_once("://")?;
        let end = rest.find('/').unwrap_or(rest.len());
        let (before, host) = rest[..end].rsplit_once('@')?;
        let (user, _) = before.split_once(':')?;
        Some(format!("{scheme}://{user}:***@{host}{}", &rest[end..]))
    };
    // A password may also stand among the parameters.
    let shown = shown().unwrap_or_else(|| text.to_owned());
    match shown.split_once('?') {
        Some((address, parameters)) if parameters.contains("password=") => {
            format!("{address}?***")
        }
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_databases_are_known() {
        assert_eq!("sqlite:a.db".parse(), Ok(Database::Sqlite("a.db".into())));
        assert_eq!(
            "sqlite:///tmp/a.db".parse(),
            Ok(Database::Sqlite("/tmp/a.db".into()))
        );
        for url in [
            "postgres://h/d",
            "postgresql://u:p@h/d",
            "mysql://h/d",
            "postgres://h/d?user=a@b",
        ] {
            assert_eq!(url.parse(), Ok(Database::Shared(Secret::new(url))));
        }
        for bad in [
            "",
            "sqlite:",
            "postgres:h",
            "redis://h",
            "a.db",
            "postgres://u:p@ss/word@h/d",
            "mysql://u:p?w@h/d",
            "mysql://u:p#w@h/d",
            "postgres://u:p@word@h/d",
        ] {
            assert!(bad.parse::<Database>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let table = [
            (
                "postgres://u:canary@h:1/d?x=1",
                "postgres://u:***@h:1/d?x=1",
            ),
            ("mysql://u:ca@nary@h/d", "mysql://u:***@h/d"),
            (
                "postgres://h/d?user=u&password=canary",
                "postgres://h/d?***",
            ),
            ("postgres://u@h/d", "postgres://u@h/d"),
            ("sqlite:a.db", "sqlite:a.db"),
        ];
        for (text, shown) in table {
            assert_eq!(without_password(text), shown);
        }
    }
}
