//! The long run: many messages, many kills, and a database that crashes. Begun by `scripts/reliability`.

mod pace;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hookbox_testkit::{Database, Server, Service, Sink};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use self::pace::Pace;
use crate::nodes::load::{Load, Plan, prepare};
use crate::nodes::tally::{Tally, say};
use crate::nodes::{node, nodes};

const NODES: usize = 4;
const ENDPOINTS: usize = 20;
/// Deliveries that a node holds at most: what was tried of them and not yet written is tried again.
const HELD: usize = 2048;
/// What the rate must be back within.
const RECOVERY: Duration = Duration::from_secs(30);
/// The part of the earlier rate that is called back.
const BACK: f64 = 0.9;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; scripts/reliability runs it"]
async fn postgres() {
    run(Service::postgres().await, 100_000, 50).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; scripts/reliability runs it"]
async fn mysql() {
    run(Service::mysql().await, 40_000, 20).await;
}

async fn run(mut service: Service, messages: usize, kills: usize) {
    let database = Database::of(&service).await;
    let (kind, seed): (_, u64) = (database.kind(), rand::random());
    say(&format!(
        "{kind:?}: {NODES} nodes, {messages} messages to {ENDPOINTS} endpoints, {kills} kills, seed {seed}"
    ));
    let sink = Arc::new(Sink::start().await);
    let mut nodes = nodes(node(&database), NODES).await;
    let plan = Plan {
        applications: (1..ENDPOINTS)
            .map(|number| format!("shop_{number}"))
            .collect(),
        messages,
        senders: 64,
        times: 1,
    };
    prepare(&nodes[0].client(), &plan.applications, |path| {
        sink.url(path)
    })
    .await;
    let began = Instant::now();
    let mut story = Story {
        pace: Pace::of(&sink),
        load: Load::start(&nodes, plan),
        dice: StdRng::seed_from_u64(seed),
    };

    story.quiet(messages / 20).await;
    story.kills(&mut nodes, kills / 2, messages / 4).await;
    let crash = story.crash(&mut service, messages / 10).await;
    let rest = kills - kills / 2;
    let last = story.kills(&mut nodes, rest, messages / 4).await;
    let pace = story.pace;
    let ledger = story.load.end().await;
    assert_eq!(ledger.len(), messages);
    let tally = Tally::complete(&sink, &ledger, &database).await;
    say(&format!(
        "{kind:?}: all arrived and settled after {:.0?}",
        began.elapsed()
    ));
    report(&tally, &ledger, kills);
    let rate = BACK * crash.rate;
    let back = pace.back(crash.at, rate).expect("the rate comes back");
    say(&format!(
        "  90 % of {:.0} arrivals/s again {back:.1?} after the crash",
        crash.rate
    ));
    assert!(back < RECOVERY, "not in time");
    match pace.back(last, rate) {
        Some(back) => say(&format!("  and {back:.1?} after the last kill")),
        None => say("  and not again after the last kill, before the load ended"),
    }
}

fn report(tally: &Tally, ledger: &HashSet<String>, kills: usize) {
    let repeats = tally.repeats();
    let most = (kills + NODES) * HELD;
    let times = tally.arrived.values().map(|(_, times)| *times).max();
    say(&format!(
        "  {} accepted, {} arrived, {repeats} repeats (at most {most} may be), one message {} times at most",
        ledger.len(),
        tally.arrived.len(),
        times.unwrap_or(0)
    ));
    assert!(repeats <= most);
}

/// A crash of the database, and the rate before it.
struct Crash {
    rate: f64,
    at: Instant,
}

struct Story {
    pace: Pace,
    load: Load,
    dice: StdRng,
}

impl Story {
    /// Lets so many be taken, and returns the rate of arrivals meanwhile.
    async fn quiet(&mut self, messages: usize) -> f64 {
        let began = Instant::now();
        assert!(self.load.taken(messages).await, "there is load");
        let rate = self.pace.rate(began, Instant::now());
        say(&format!("  undisturbed: {rate:.0} arrivals/s"));
        rate
    }

    /// Kills nodes at random while so many are taken; returns when the last one was.
    async fn kills(&mut self, nodes: &mut [Server], kills: usize, messages: usize) -> Instant {
        let began = Instant::now();
        let mut last = began;
        let between = messages / kills;
        for _ in 0..kills {
            let before = self.dice.random_range(0..between);
            assert!(self.load.taken(before).await, "there is load at every kill");
            let node = self.dice.random_range(0..nodes.len());
            last = Instant::now();
            nodes[node].kill9().await;
            nodes[node].restart().await;
            assert!(self.load.taken(between - before).await, "there is load");
        }
        let rate = self.pace.rate(began, Instant::now());
        say(&format!(
            "  {kills} times kill -9 in {:.0?}: {rate:.0} arrivals/s",
            began.elapsed()
        ));
        last
    }

    /// Crashes the database between two times without a fault.
    async fn crash(&mut self, service: &mut Service, messages: usize) -> Crash {
        let rate = self.quiet(messages).await;
        let at = Instant::now();
        service.crash().await;
        service.start().await;
        say(&format!(
            "  the database crashed and was started again in {:.1?}",
            at.elapsed()
        ));
        self.quiet(messages).await;
        Crash { rate, at }
    }
}
