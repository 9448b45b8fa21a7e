//! What arrived, against what was accepted.

use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::time::Duration;

use hookbox_testkit::clock::within;
use hookbox_testkit::{Arrival, Database, Sink};

/// Longer than the lease of a node that was killed at the end.
const PATIENCE: Duration = Duration::from_secs(60);

/// What arrived, by name.
#[derive(Default)]
pub(crate) struct Tally {
    looked_at: usize,
    /// The id that each came under, and how often.
    pub(crate) arrived: HashMap<String, (String, usize)>,
}

impl Tally {
    /// Looks at what arrived since.
    pub(crate) fn look(&mut self, sink: &Sink) {
        for arrival in sink.arrivals_from(self.looked_at) {
            self.looked_at += 1;
            let id = arrival.header("webhook-id").to_owned();
            let known = self
                .arrived
                .entry(name(&arrival))
                .or_insert((id.clone(), 0));
            assert_eq!(known.0, id, "one message under two ids");
            known.1 += 1;
        }
    }

    /// Looks until that many have arrived, or nothing new arrives any more.
    async fn gather(&mut self, sink: &Sink, count: usize) {
        self.look(sink);
        while self.arrived.len() < count {
            let seen = self.looked_at;
            let more = within(PATIENCE, || async { (sink.count() > seen).then_some(()) });
            if more.await.is_none() {
                return;
            }
            self.look(sink);
        }
    }

    /// Waits until everything accepted has arrived and is settled. Nothing else may arrive, and no more be recorded.
    pub(crate) async fn complete(
        sink: &Sink,
        ledger: &HashSet<String>,
        database: &Database,
    ) -> Self {
        let mut tally = Self::default();
        tally.gather(sink, ledger.len()).await;
        let lost: Vec<_> = ledger
            .iter()
            .filter(|name| !tally.arrived.contains_key(*name))
            .collect();
        if !lost.is_empty() {
            let rows = rows(database).await;
            panic!("answered 2xx and never arrived: {lost:?}; in the database: {rows}");
        }
        let open = "SELECT count(*) FROM delivery";
        let settled = within(PATIENCE, || async move {
            (database.number(open).await == 0).then_some(())
        });
        assert!(settled.await.is_some(), "something is stuck");
        tally.look(sink);
        let mut unknown = tally.arrived.keys().filter(|name| !ledger.contains(*name));
        assert_eq!(unknown.next(), None, "never accepted, and yet it arrived");
        let recorded = database.number("SELECT count(*) FROM message").await;
        assert_eq!(
            usize::try_from(recorded),
            Ok(ledger.len()),
            "each is recorded once"
        );
        let dead = "SELECT count(*) FROM settled WHERE state <> 'delivered'";
        assert_eq!(database.number(dead).await, 0, "each was delivered");
        tally
    }

    /// How many arrivals were not the first of their message.
    pub(crate) fn repeats(&self) -> usize {
        self.arrived.values().map(|(_, times)| times - 1).sum()
    }
}

/// How far everything is, for who looks for what was lost.
async fn rows(database: &Database) -> String {
    let tables = [
        "message",
        "delivery",
        "delivery WHERE state = 'leased'",
        "delivery WHERE due_at IS NULL",
        "settled",
        "attempt",
    ];
    let mut all = Vec::new();
    for table in tables {
        let count = format!("SELECT count(*) FROM {table}");
        all.push(format!("{table}: {}", database.number(&count).await));
    }
    all.join("; ")
}

fn name(arrival: &Arrival) -> String {
    let body: serde_json::Value = serde_json::from_slice(&arrival.body).expect("as it was sent");
    body["id"].as_str().expect("an id").to_owned()
}

/// Written past the test runner, which keeps what a passing test prints to itself.
pub(crate) fn say(text: &str) {
    writeln!(std::io::stderr(), "{text}").expect("a terminal");
}
