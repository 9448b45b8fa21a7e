//! What can be reached from here: the server, and names.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use http::Method;

use super::codes::{LIVE, NAMES, READY};
use super::finding::{Finding, counted};
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::egress::Resolver;
use crate::settings::{Caller, without_password};

/// A server that takes longer does not answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Names that are looked up; more would keep whoever waits.
const MOST: usize = 50;

/// What the server said to a question.
pub(super) type Said = Result<(u16, Bytes), Error>;

/// Asks the server at the address that the settings name, without showing it a token.
pub(super) async fn server(caller: Caller) -> Vec<Finding> {
    let url = without_password(&caller.url);
    let client = Client::new(Caller {
        token: None,
        ..caller
    });
    let ask = async |path| {
        let answer = client.raw(Method::GET, path, None);
        let slow = || Err(Error::Failed("it does not answer in time".to_owned()));
        tokio::time::timeout(PATIENCE, answer)
            .await
            .unwrap_or_else(|_| slow())
    };
    let live = judge_live(&ask("/livez").await, &url);
    let lives = live.code.name == LIVE.name && live.level == super::finding::Level::Ok;
    let mut findings = vec![live];
    if lives {
        findings.push(judge_ready(&ask("/readyz").await));
    }
    findings
}

fn judge_live(said: &Said, url: &str) -> Finding {
    match said {
        Ok((200, body)) if body.starts_with(b"alive") => LIVE.ok(format!("one answers at {url}")),
        Ok((status, _)) => {
            LIVE.warning(format!("what answers at {url} is not a hookbox: {status}"))
        }
        Err(Error::NoServer(_)) => LIVE.note(format!("none answers at {url}")),
        Err(_) => LIVE.warning(format!(
            "{url} does not answer in time, or not as a server does"
        )),
    }
}

fn judge_ready(said: &Said) -> Finding {
    match said {
        Ok((200, _)) => READY.ok("it is ready"),
        Ok((status, body)) => {
            let body: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
            let none = serde_json::Map::new();
            let parts = body["parts"].as_object().unwrap_or(&none).iter();
            let parts: Vec<_> = parts
                .filter_map(|(part, state)| Some(format!("{part} is {}", state.as_str()?)))
                .collect();
            match parts.as_slice() {
                [] => READY.error(format!("it answered {status}")),
                parts => READY.error(parts.join(", ")),
            }
        }
        Err(_) => READY.error("it does not answer in time"),
    }
}

/// Looks names up, and nothing more.
pub(super) async fn names(hosts: &BTreeSet<String>) -> Option<Finding> {
    let resolver = Resolver::system();
    let mut unknown = Vec::new();
    for host in hosts.iter().take(MOST) {
        if !resolver.knows(host).await {
            unknown.push(host.as_str());
        }
    }
    judge_names(hosts.len().min(MOST), &unknown)
}

fn judge_names(asked: usize, unknown: &[&str]) -> Option<Finding> {
    match (asked, unknown) {
        (0, _) => None,
        (_, []) => Some(NAMES.ok(counted(asked, "name is known", "names are known"))),
        (_, unknown) => Some(NAMES.warning(format!("not known: {}", unknown.join(", ")))),
    }
}

/// The hosts of addresses that are names.
pub(super) fn hosts<'a>(urls: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    let urls = urls.into_iter().filter_map(|url| url::Url::parse(url).ok());
    urls.filter_map(|url| url.domain().map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    fn said(status: u16, body: &'static str) -> Said {
        Ok((status, Bytes::from_static(body.as_bytes())))
    }

    #[test]
    fn answers_of_the_server_are_judged() {
        let table = [
            (said(200, "alive\n"), Level::Ok),
            (said(200, "<html>"), Level::Warning),
            (said(404, ""), Level::Warning),
            (Err(Error::NoServer("x".into())), Level::Note),
            (Err(Error::Failed("x".into())), Level::Warning),
        ];
        for (said, level) in table {
            assert_eq!(judge_live(&said, "u").level, level, "{said:?}");
        }
        let table = [
            (said(200, "ready\n"), Level::Ok, "it is ready"),
            (
                said(503, r#"{"parts": {"database": "slow"}}"#),
                Level::Error,
                "database is slow",
            ),
            (said(502, "<html>"), Level::Error, "it answered 502"),
        ];
        for (said, level, found) in table {
            let finding = judge_ready(&said);
            assert_eq!((finding.level, finding.found.as_str()), (level, found));
        }
    }

    #[test]
    fn names_are_judged() {
        assert!(judge_names(0, &[]).is_none());
        let level = |unknown: &[&str]| judge_names(2, unknown).map(|finding| finding.level);
        assert_eq!(level(&[]), Some(Level::Ok));
        assert_eq!(level(&["gone.example"]), Some(Level::Warning));
        let urls = [
            "http://app:3000/x",
            "http://127.0.0.1/",
            "http://[::1]/",
            "no url",
        ];
        assert_eq!(hosts(urls), ["app".to_owned()].into());
    }
}
