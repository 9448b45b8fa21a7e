//! Judging what is set.

use std::path::PathBuf;

use super::codes::{
    ADMIN_TOKEN, ALLOW_HTTP, EGRESS, KEY, KEY_FILE, METRICS, ROLES, SECRET_FILE, SETTINGS, STRAY,
};
use super::finding::Finding;
use crate::model::Secret;
use crate::settings::{Database, Roles, Settings};

/// Less than this can be guessed: the bits of a token, counted generously.
const WEAK: f64 = 80.0;
/// What hands out credentials in clouds.
const METADATA: [&str; 3] = ["169.254.169.254", "fd00:ec2::254", "100.100.100.200"];

/// The file that holds the key of an `SQLite` database.
#[derive(Clone, Debug)]
pub(super) struct KeyFile {
    pub(super) path: PathBuf,
    pub(super) state: KeyState,
    /// Who may do what with it.
    pub(super) mode: u32,
    /// The database is there already.
    pub(super) needed: bool,
}

/// What a key file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyState {
    Missing,
    Unreadable,
    Malformed,
    Key([u8; 32]),
}

/// A file with a secret, and who may do what with it.
pub(super) type SecretFile = (PathBuf, u32);

/// Variables that nobody reads.
pub(super) fn strays(strays: &[(String, String)]) -> Vec<Finding> {
    let strays = strays.iter();
    strays
        .map(|(name, meant)| STRAY.warning(format!("{name} is not read{meant}")))
        .collect()
}

/// Files with secrets that others may read.
pub(super) fn secret_files(files: &[SecretFile]) -> Vec<Finding> {
    let open = files.iter().filter(|(_, mode)| mode & 0o077 != 0);
    open.map(|(path, mode)| SECRET_FILE.note(format!("{} has mode {mode:04o}", path.display())))
        .collect()
}

/// What is set, and can be read.
pub(super) fn judge(settings: &Settings, key_file: Option<&KeyFile>) -> Vec<Finding> {
    let mut findings = vec![SETTINGS.ok("all settings can be read"), roles(settings)];
    findings.extend(key(settings, key_file));
    findings.push(admin_token(settings.admin_token.as_ref()));
    findings.push(egress(settings));
    findings.push(match settings.allow_http {
        true => ALLOW_HTTP.note("strangers' endpoints may be plain http"),
        false => ALLOW_HTTP.ok("strangers' endpoints are https"),
    });
    if settings.metrics_token.is_none() && !settings.listen.ip().is_loopback() {
        let listen = settings.listen;
        findings.push(METRICS.note(format!(
            "it listens on {listen}, and /metrics and /queue want no token"
        )));
    }
    findings
}

fn roles(settings: &Settings) -> Finding {
    let all = settings.roles == Roles::ALL;
    match settings.database {
        _ if all => ROLES.ok("this node does everything"),
        Database::Sqlite(_) => ROLES.error("SQLite has one process, and this one lacks roles"),
        Database::Shared(_) => ROLES.note(format!("this node lacks {}", lacking(settings.roles))),
    }
}

fn lacking(roles: Roles) -> String {
    let lacking = [
        ("doors", roles.doors),
        ("api", roles.api),
        ("engine", roles.engine),
        ("upkeep", roles.upkeep),
    ];
    let lacking: Vec<_> = lacking
        .iter()
        .filter(|(_, has)| !has)
        .map(|(name, _)| *name)
        .collect();
    lacking.join(", ")
}

fn key(settings: &Settings, file: Option<&KeyFile>) -> Vec<Finding> {
    if settings.secret_key.is_some() {
        return vec![KEY.ok("it is set")];
    }
    let Some(file) = file else {
        return vec![
            KEY.error("nodes of a shared database must be given the same key, and none is set"),
        ];
    };
    let path = file.path.display();
    let held = match (file.state, file.needed) {
        (KeyState::Key(_), _) => KEY.ok(format!("it stands in {path}")),
        (KeyState::Missing, false) => KEY.ok(format!("none yet; the first start writes {path}")),
        (KeyState::Missing, true) => KEY.error(format!("{path} is not there, but the database is")),
        (KeyState::Unreadable, _) => KEY.error(format!("{path} cannot be read")),
        (KeyState::Malformed, _) => KEY.error(format!("{path} is not base64 of 32 bytes")),
    };
    let mut findings = vec![held];
    if file.state != KeyState::Missing {
        let mode = file.mode;
        findings.push(match mode & 0o077 {
            0 => KEY_FILE.ok(format!("only its owner may read {path}")),
            _ => KEY_FILE.warning(format!("{path} has mode {mode:04o}")),
        });
    }
    findings
}

fn admin_token(token: Option<&Secret>) -> Finding {
    match token {
        None => ADMIN_TOKEN.ok("none is set; tokens are in the database"),
        Some(token) if bits(token.expose()) < WEAK => {
            ADMIN_TOKEN.warning("it is regular enough to be guessed")
        }
        Some(_) => ADMIN_TOKEN.ok("it is long and irregular"),
    }
}

/// The bits of a text if its letters were drawn by how often each stands in it; of its part that repeats only.
fn bits(text: &str) -> f64 {
    let bytes = text.as_bytes();
    let period = (1..=bytes.len()).find(|period| {
        let shifted = bytes.iter().skip(*period);
        shifted.zip(bytes).all(|(a, b)| a == b)
    });
    let part = &bytes[..period.unwrap_or(0)];
    let length = u32::try_from(part.len()).map_or(f64::MAX, f64::from);
    let mut seen = [0_u32; 256];
    for byte in part {
        seen[usize::from(*byte)] += 1;
    }
    let each = seen.iter().filter(|count| **count > 0);
    each.map(|count| f64::from(*count) * (length / f64::from(*count)).log2())
        .sum()
}

fn egress(settings: &Settings) -> Finding {
    let allowed = &settings.egress_allow;
    let reaches = |address: &str| {
        let address = address.parse::<std::net::IpAddr>();
        address.is_ok_and(|address| {
            [80, 443]
                .iter()
                .any(|port| allowed.contains(address, *port))
        })
    };
    match METADATA.iter().find(|address| reaches(address)) {
        _ if allowed.is_empty() => EGRESS.ok("strangers' endpoints reach public addresses only"),
        Some(address) => EGRESS.warning(format!("{allowed} lets them reach {address}")),
        None => EGRESS.note(format!("strangers' endpoints may also reach {allowed}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;
    use crate::settings::Given;

    fn settings(set: &[(&str, &str)]) -> Settings {
        let environment = set
            .iter()
            .map(|(name, value)| (format!("HOOKBOX_{name}"), (*value).to_owned()));
        let given = Given {
            environment: environment.collect(),
            ..Given::default()
        };
        given.settings().unwrap()
    }

    fn key_file(state: KeyState, mode: u32, needed: bool) -> KeyFile {
        KeyFile {
            path: "x.key".into(),
            state,
            mode,
            needed,
        }
    }

    /// The findings that are not ok.
    fn bad(settings: &Settings, file: Option<&KeyFile>) -> Vec<(&'static str, Level)> {
        let findings = judge(settings, file).into_iter();
        findings
            .filter(|finding| finding.level > Level::Ok)
            .map(|finding| (finding.code.name, finding.level))
            .collect()
    }

    const SHARED: (&str, &str) = ("DATABASE", "postgres://h/d");
    const SET: (&str, &str) = ("SECRET_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");

    #[test]
    fn what_is_set_is_judged() {
        use Level::{Error, Note, Warning};
        type Case = (
            &'static [(&'static str, &'static str)],
            Vec<(&'static str, Level)>,
        );
        let table: [Case; 9] = [
            (&[SET], vec![]),
            (&[SET, SHARED], vec![]),
            (&[SHARED], vec![("settings.secret_key", Error)]),
            (&[SET, ("ROLE", "api")], vec![("settings.roles", Error)]),
            (
                &[SET, SHARED, ("ROLE", "api")],
                vec![("settings.roles", Note)],
            ),
            (
                &[SET, ("ALLOW_HTTP", "true")],
                vec![("settings.allow_http", Note)],
            ),
            (
                &[SET, ("EGRESS_ALLOW", "10.0.0.0/8")],
                vec![("settings.egress_allow", Note)],
            ),
            (
                &[SET, ("EGRESS_ALLOW", "0.0.0.0/0")],
                vec![("settings.egress_allow", Warning)],
            ),
            (
                &[SET, ("LISTEN", "0.0.0.0:80")],
                vec![("settings.metrics_token", Note)],
            ),
        ];
        for (set, expected) in table {
            assert_eq!(bad(&settings(set), None), expected, "{set:?}");
        }
    }

    #[test]
    fn a_key_file_is_judged() {
        use Level::{Error, Warning};
        let key = KeyState::Key([0; 32]);
        let code = "settings.secret_key";
        let table = [
            (key_file(key, 0o600, true), vec![]),
            (
                key_file(key, 0o644, true),
                vec![("settings.key_file_readable", Warning)],
            ),
            (key_file(KeyState::Missing, 0, false), vec![]),
            (key_file(KeyState::Missing, 0, true), vec![(code, Error)]),
            (
                key_file(KeyState::Unreadable, 0o600, true),
                vec![(code, Error)],
            ),
            (
                key_file(KeyState::Malformed, 0o600, true),
                vec![(code, Error)],
            ),
        ];
        for (file, expected) in table {
            assert_eq!(bad(&settings(&[]), Some(&file)), expected, "{file:?}");
        }
    }

    #[test]
    fn a_token_that_can_be_guessed_is_weak() {
        let random = "3f9a1c07be5d4286a0f7c19be2d3485f";
        assert!(bits(random) > WEAK);
        for weak in ["a".repeat(64), "abcd1234".repeat(8), "0".repeat(31) + "1"] {
            assert!(bits(&weak) < WEAK, "{weak}: {}", bits(&weak));
        }
    }

    #[test]
    fn files_and_variables_are_judged() {
        let files = [("a".into(), 0o600), ("b".into(), 0o644)];
        assert_eq!(secret_files(&files).len(), 1);
        assert_eq!(strays(&[("HOOKBOX_X".into(), String::new())]).len(), 1);
    }
}
