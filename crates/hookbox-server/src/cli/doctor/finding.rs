//! What was found: a stable code, how bad it is, and what to do.

use std::fmt;

use super::codes::CODES;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Note,
    /// It works, and may not for long.
    Warning,
    /// It does not work, or can lose what it accepted.
    Error,
}

impl Level {
    /// Its name, in JSON too.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Something that can be found.
#[derive(Debug)]
pub(super) struct Code {
    /// Its name, which does not change.
    pub(super) name: &'static str,
    /// The levels that it can have.
    pub(super) levels: &'static [Level],
    /// What it means.
    pub(super) about: &'static str,
    /// What to do, when it is not ok.
    pub(super) advice: &'static str,
}

/// Something that was found.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) code: &'static Code,
    pub(super) level: Level,
    /// What.
    pub(super) found: String,
}

impl Code {
    fn at(&'static self, level: Level, found: impl Into<String>) -> Finding {
        debug_assert!(self.levels.contains(&level), "{} {level}", self.name);
        Finding {
            code: self,
            level,
            found: found.into(),
        }
    }

    pub(super) fn ok(&'static self, found: impl Into<String>) -> Finding {
        self.at(Level::Ok, found)
    }

    pub(super) fn note(&'static self, found: impl Into<String>) -> Finding {
        self.at(Level::Note, found)
    }

    pub(super) fn warning(&'static self, found: impl Into<String>) -> Finding {
        self.at(Level::Warning, found)
    }

    pub(super) fn error(&'static self, found: impl Into<String>) -> Finding {
        self.at(Level::Error, found)
    }
}

impl Finding {
    /// What to do about it.
    pub(super) fn advice(&self) -> Option<&'static str> {
        (self.level > Level::Ok).then_some(self.code.advice)
    }
}

/// What somebody else said, without secrets that it may have quoted.
#[derive(Debug, Default)]
pub(super) struct Discreet(Vec<String>);

impl Discreet {
    /// Knows these, the longest first.
    pub(super) fn new(secrets: Vec<String>) -> Self {
        Self(secrets)
    }

    pub(super) fn text(&self, said: &dyn fmt::Display) -> String {
        self.0.iter().fold(said.to_string(), |text, secret| {
            text.replace(secret.as_str(), "***")
        })
    }
}

/// So many of a thing.
pub(super) fn counted(count: impl TryInto<u64>, one: &str, many: &str) -> String {
    match count.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}

/// The page `docs/doctor.md`.
pub(super) fn page() -> String {
    let mut page = String::from(
        "# What `hookbox doctor` finds\n\n`hookbox doctor` looks at the settings, the database, the clock, the queue and \
         the running server, and says what to\ndo. It changes nothing, and works whether or not the server runs. Each \
         finding has a code that does not change and\na level: `ok`, `note`, `warning` or `error`. The exit code is 1 \
         when there is an error, otherwise 0. `--json` prints\n\n```json\n{\"level\": \"error\", \"findings\": [{\"code\": \
         \"…\", \"level\": \"error\", \"found\": \"…\", \"advice\": \"…\"}]}\n```\n\n`--deep` reads every page of an SQLite \
         database too, which takes its time. `--name HOST` looks a name up, instead of the\nhosts that events are \
         forwarded to. Give it the same settings as the server.\n\n| code | levels | what it means | what to do |\n\
         |---|---|---|---|\n",
    );
    for code in CODES {
        let levels: Vec<_> = code.levels.iter().map(|level| level.name()).collect();
        page += &format!(
            "| `{}` | {} | {} | {} |\n",
            code.name,
            levels.join(", "),
            code.about,
            code.advice
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_page_of_findings_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/doctor.md");
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(
            written,
            page(),
            "run `cargo run -- doctor --markdown > docs/doctor.md`"
        );
    }

    #[test]
    fn a_code_names_one_thing_and_says_what_to_do() {
        let names: BTreeSet<_> = CODES.iter().map(|code| code.name).collect();
        assert_eq!(names.len(), CODES.len());
        for code in CODES {
            assert!(
                code.name.contains('.') && code.about.ends_with('.'),
                "{code:?}"
            );
            let bad = code.levels.iter().any(|level| *level > Level::Ok);
            assert!(!bad || code.advice.ends_with('.'), "{code:?}");
            assert!(
                code.levels.is_sorted() && !code.levels.is_empty(),
                "{code:?}"
            );
        }
    }

    #[test]
    fn secrets_that_others_quote_are_left_out() {
        let discreet = Discreet::new(vec!["canary-long".into(), "canary".into()]);
        assert_eq!(discreet.text(&"a canary-long, a canary"), "a ***, a ***");
    }

    #[test]
    fn things_are_counted() {
        assert_eq!(counted(1_u64, "row", "rows"), "1 row");
        assert_eq!(counted(0_usize, "row", "rows"), "0 rows");
    }
}
