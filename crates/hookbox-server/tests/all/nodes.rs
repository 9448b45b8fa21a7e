//! Many nodes on one database: what one accepts, another may deliver, and none of them is needed.

mod backends;
mod clocks;
mod cut;
mod duplicates;
mod fan_out;
mod freeze;
mod kills;
pub(crate) mod load;
mod others;
mod pooled;
mod roles;
mod same;
pub(crate) mod tally;
mod wire;
mod writers;

use hookbox_testkit::process::Setup;
use hookbox_testkit::{Database, Server};

use crate::given;

/// The shortest lease, so that the tests do not wait long for one to end.
pub(crate) const LEASE: &str = "25s";

/// A test on each kind of database that nodes can share.
macro_rules! on_both {
    ($name:ident) => {
        mod $name {
            use hookbox_testkit::Database;

            #[tokio::test(flavor = "multi_thread")]
            async fn postgres() {
                super::$name(&Database::postgres().await).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn mysql() {
                super::$name(&Database::mysql().await).await;
            }
        }
    };
}
pub(crate) use on_both;

/// A node on that database.
pub(crate) fn node(database: &Database) -> Setup {
    // A receiver that is killed in the middle of a try must not use up the schedule.
    given::setup()
        .on(database.url())
        .env("HOOKBOX_LEASE", LEASE)
        .env("HOOKBOX_RETRY_SCHEDULE", &["50ms"; 30].join(","))
}

/// That many nodes like the first.
pub(crate) async fn nodes(first: Setup, count: usize) -> Vec<Server> {
    let mut nodes = vec![first.start().await];
    while nodes.len() < count {
        nodes.push(nodes[0].setup().node().start().await);
    }
    nodes
}

/// Waits until nothing is under way any more: every delivery is settled.
async fn settled(database: &Database) {
    let open = "SELECT count(*) FROM delivery";
    hookbox_testkit::clock::eventually("every delivery is settled", || async move {
        (database.number(open).await == 0).then_some(())
    })
    .await;
}
