//! A node that is stopped in the middle of its tries, and goes on when others have taken them over.

use hookbox_testkit::clock::eventually;
use hookbox_testkit::{Answer, Database, Sink};
use serde_json::json;

use super::{node, settled};
use crate::given;

const MESSAGES: usize = 10;

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_slept_past_its_leases_changes_nothing() {
    // Both wait for leases to end, so they wait together.
    let (postgres, mysql) = (Database::postgres().await, Database::mysql().await);
    tokio::join!(freeze(&postgres), freeze(&mysql));
}

async fn freeze(database: &Database) {
    let sink = Sink::start().await;
    let sleeper = node(database).start().await;
    given::endpoint(&sleeper.client(), "acme", &sink.url("/")).await;
    // What it will hear in the end would move the deliveries, if it still could.
    sink.script(vec![Answer::from(500).held(); MESSAGES]);
    for number in 0..MESSAGES {
        given::message(&sleeper.client(), "acme", &json!({"number": number})).await;
    }
    sink.wait_for(MESSAGES).await;
    sleeper.freeze();

    let other = sleeper.setup().node().start().await;
    sink.wait_for(2 * MESSAGES).await;
    settled(database).await;
    sink.release();
    sleeper.thaw();
    let late = "SELECT count(*) FROM attempt WHERE late";
    let late = || async { (database.number(late).await == 10).then_some(()) };
    eventually("late results are in the history", late).await;

    let delivered = "SELECT count(*) FROM settled WHERE state = 'delivered' AND fence = 2";
    assert_eq!(database.number(delivered).await, 10);
    assert_eq!(database.number("SELECT count(*) FROM delivery").await, 0);
    assert_eq!(database.number("SELECT count(*) FROM attempt").await, 20);
    assert_eq!(sink.count(), 2 * MESSAGES, "nothing was sent a third time");
    // Both go on.
    sink.otherwise(200);
    for server in [&sleeper, &other] {
        given::message(&server.client(), "acme", &json!({})).await;
    }
    sink.wait_for(2 * MESSAGES + 2).await;
}
