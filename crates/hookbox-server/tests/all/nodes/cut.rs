//! A node that loses its database, and has it back.

use std::cell::Cell;
use std::time::{Duration, Instant};

use hookbox_testkit::clock::eventually;
use hookbox_testkit::{Answer, Database, Server, Sink, Wire};
use serde_json::json;

use super::load::{event, prepare};
use super::tally::{Tally, say};
use super::{node, settled};

/// What a refusal may take on a busy machine. It is made to take less than a second.
const AT_ONCE: Duration = Duration::from_secs(2);
const MESSAGES: usize = 4;

#[tokio::test(flavor = "multi_thread")]
async fn a_node_without_its_database_refuses_stops_and_recovers() {
    // Both wait for leases to end, so they wait together.
    let (postgres, mysql) = (Database::postgres().await, Database::mysql().await);
    tokio::join!(cut(&postgres), cut(&mysql));
}

async fn cut(database: &Database) {
    let sink = Sink::start().await;
    let wire = Wire::to(database.address()).await;
    let setup = node(database).env("HOOKBOX_ENDPOINT_CONCURRENCY", "1");
    let lonely = setup
        .clone()
        .on(&database.url_by(wire.address()))
        .start()
        .await;
    prepare(&lonely.client(), ["acme"], |path| sink.url(path)).await;

    // Four are leased to it, and each takes so long that what is left of the lease is too short for the last.
    sink.otherwise(Answer::from(200).after(Duration::from_secs(3)));
    for number in 0..MESSAGES {
        post(&lonely, &format!("out_{number}")).await;
    }
    sink.wait_for(1).await;
    wire.silence();
    let mut slowest = refuses(&lonely, Ask::Door).await;
    wire.cut();
    for ask in [Ask::Door, Ask::Message, Ask::Page] {
        slowest = slowest.max(refuses(&lonely, ask).await);
    }
    wire.silence();
    for ask in [Ask::Message, Ask::Page] {
        slowest = slowest.max(refuses(&lonely, ask).await);
    }
    say(&format!(
        "without a database, {:?}: refused in {slowest:.0?} at most",
        database.kind()
    ));

    let other = setup.node().start().await;
    let alone = alone(&sink, database).await;
    assert!(
        alone < MESSAGES,
        "it went on sending under a lease that ends"
    );
    sink.otherwise(200);
    let mut tally = Tally::default();
    eventually("another node delivers them all", || {
        tally.look(&sink);
        let all = tally.arrived.len() == MESSAGES;
        async move { all.then_some(()) }
    })
    .await;
    settled(database).await;
    assert_eq!(
        sink.count(),
        alone + MESSAGES,
        "at most one duplicate of what was in flight"
    );

    wire.mend();
    eventually("it recovers", || async {
        let ready = lonely.stranger().get("/readyz").await;
        (ready.status == 200).then_some(())
    })
    .await;
    post(&lonely, "out_after").await;
    post(&other, "out_other").await;
    lonely
        .stranger()
        .event("stripe", &event("evt_after"))
        .await
        .expect(200);
    sink.wait_for(alone + MESSAGES + 3).await;
    settled(database).await;
    assert_eq!(
        sink.count(),
        alone + MESSAGES + 3,
        "what came late changed nothing"
    );
}

/// How many it sent in all, once the leases that it held have ended.
async fn alone(sink: &Sink, database: &Database) -> usize {
    let held = "SELECT count(*) FROM delivery WHERE fence = 1";
    let sent = Cell::new(0);
    let ended = || async {
        let before = sink.count();
        let held = database.number(held).await;
        if held == 4 {
            sent.set(before);
        }
        (held < 4).then_some(())
    };
    eventually("its leases end", ended).await;
    sent.get()
}

async fn post(server: &Server, name: &str) {
    let new = json!({"eventType": "a.b", "payload": {"id": name}});
    server
        .client()
        .post("/api/v1/app/acme/msg", &new)
        .await
        .expect(202);
}

/// Doors and API say at once that they cannot, and when to come again; returns how long the slowest took.
async fn refuses(server: &Server, ask: Ask) -> Duration {
    let mut slowest = Duration::ZERO;
    for _ in 0..3 {
        let asked = Instant::now();
        let reply = match ask {
            Ask::Door => {
                let event = event("evt_never");
                server.stranger().event("stripe", &event).await
            }
            Ask::Message => {
                let new = json!({"eventType": "a.b", "payload": {"id": "never"}});
                server.client().post("/api/v1/app/acme/msg", &new).await
            }
            Ask::Page => server.client().get("/api/v1/app").await,
        };
        let took = asked.elapsed();
        assert_eq!(reply.status, 503, "{reply:?}");
        assert!(reply.headers.contains_key("retry-after"), "{reply:?}");
        assert!(took < AT_ONCE, "{ask:?}: {took:?}");
        slowest = slowest.max(took);
    }
    slowest
}

/// What a caller asks of a node.
#[derive(Clone, Copy, Debug)]
enum Ask {
    Door,
    Message,
    Page,
}
