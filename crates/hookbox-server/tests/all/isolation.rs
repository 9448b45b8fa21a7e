//! One bad endpoint harms nobody else: a whole node in this process, with endpoints that are slow, sick or many.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod node;

use std::time::Duration;

use hookbox_server::egress::Resolver;
use hookbox_server::model::State;
use hookbox_server::store::handoff::Limits;
use hookbox_testkit::clock::eventually;
use hookbox_testkit::{Answer, Sink};

use self::node::Node;

const LIMITS: Limits = Limits {
    slots: 40,
    bytes: 1 << 20,
    application: 40,
    in_flight: 4,
    lane: 16,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_endpoint_with_hundreds_waiting_fills_its_own_lane_only() {
    let (slow, quick) = (Sink::start().await, Sink::start().await);
    slow.otherwise(Answer::from(200).held());
    let node = Node::start(LIMITS, "1h");
    node.endpoints("both", &[slow.url("/"), quick.url("/")])
        .await;
    node.send("both", 300).await;
    quick.wait_for(300).await;
    assert_eq!(slow.arrivals().len(), LIMITS.in_flight);
    slow.release();
    slow.wait_for(300).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sick_endpoint_has_one_try_in_flight_and_others_have_theirs() {
    let (sick, well) = (Sink::start().await, Sink::start().await);
    sick.script([500; 10]);
    sick.otherwise(Answer::from(200).held());
    let node = Node::start(LIMITS, "1h");
    node.endpoints("sick", &[sick.url("/")]).await;
    node.endpoints("well", &[well.url("/")]).await;
    node.send("sick", 10).await;
    node.settled().await;

    node.send("sick", 50).await;
    sick.wait_for(11).await;
    node.send("well", 100).await;
    well.wait_for(100).await;
    assert_eq!(sick.arrivals().len(), 11);
    sick.release();
    sick.wait_for(60).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_application_with_many_endpoints_starves_no_other() {
    let (loud, quiet) = (Sink::start().await, Sink::start().await);
    loud.otherwise(Answer::from(200).held());
    let limits = Limits {
        application: 10,
        ..LIMITS
    };
    let node = Node::start(limits, "1h");
    let many: Vec<_> = (0..20).map(|n| loud.url(&format!("/{n}"))).collect();
    node.endpoints("loud", &many).await;
    node.endpoints("quiet", &[quiet.url("/")]).await;
    node.send("loud", 20).await;
    loud.wait_for(8).await;
    node.send("quiet", 100).await;
    quiet.wait_for(100).await;
    assert!(loud.arrivals().len() <= limits.application);
    loud.release();
    loud.wait_for(20 * 20).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retries_leave_the_node_to_first_tries_and_go_on_beside_them() {
    let (failing, new) = (Sink::start().await, Sink::start().await);
    let limits = Limits {
        slots: 20,
        application: 20,
        in_flight: 20,
        lane: 20,
        ..LIMITS
    };
    let node = Node::start(limits, "100ms,1h");
    // Few failures for each, so that none counts as sick.
    let many: Vec<_> = (0..10).map(|n| failing.url(&format!("/{n}"))).collect();
    node.endpoints("failing", &many).await;
    node.endpoints("new", &[new.url("/")]).await;
    failing.script([500; 60]);
    failing.otherwise(Answer::from(200).held());
    new.otherwise(Answer::from(200).held());
    node.send("failing", 6).await;
    // Alone they have half of the node.
    failing.wait_for(60 + 10).await;
    node.send("new", 40).await;
    new.wait_for(10).await;
    assert_eq!(failing.arrivals().len(), 70);
    // All of them are done in the end, although first tries fill the rest of the node and do not end.
    failing.release();
    failing.wait_for(60 + 60).await;
    new.wait_for(16).await;
    new.release();
    new.wait_for(40).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_our_own_resolver_is_down_no_failure_counts() {
    const HOSTS: usize = 6;
    let sink = Sink::start().await;
    let names = (0..HOSTS).map(|n| (format!("h{n}.test"), Vec::new()));
    let resolver = Resolver::fixed(names);
    let node = Node::with(LIMITS, "1h", resolver.clone());
    let port = sink.url("").rsplit(':').next().unwrap().to_owned();
    let urls: Vec<_> = (0..HOSTS)
        .map(|n| format!("http://h{n}.test:{port}/"))
        .collect();
    node.endpoints("a", &urls).await;
    node.send("a", 10).await;
    node.settled().await;
    // The twentieth failure in a row tells whose fault it is.
    assert_eq!(node.failures("a").await, 19);

    if let Resolver::Fixed(names) = &resolver {
        for lists in names.lock().unwrap().values_mut() {
            lists.push(vec!["127.0.0.1".parse().unwrap()]);
        }
    }
    let rest = 10 * HOSTS - 19;
    sink.wait_for(rest).await;
    node.settled().await;
    assert_eq!(node.failures("a").await, 19);
    let delivered = node.states("a").await.into_iter();
    let delivered = delivered.filter(|state| *state == State::Delivered);
    assert_eq!((delivered.count(), sink.arrivals().len()), (rest, rest));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_cannot_write_results_begins_no_try() {
    let (first, other) = (Sink::start().await, Sink::start().await);
    let node = Node::start(LIMITS, "1h");
    node.endpoints("first", &[first.url("/")]).await;
    node.endpoints("other", &[other.url("/")]).await;
    node.sql(
        "CREATE TRIGGER broken BEFORE INSERT ON attempt BEGIN SELECT RAISE(ABORT, 'disk'); END",
    );
    node.send("first", 1).await;
    eventually("a result cannot be written", async || {
        (!node.can_write()).then_some(())
    })
    .await;
    for _ in 0..10 {
        node.send("other", 1).await;
    }
    assert_eq!(other.arrivals().len(), 0);
    node.sql("DROP TRIGGER broken");
    other.wait_for(10).await;
    node.settled().await;
    assert_eq!((first.arrivals().len(), other.arrivals().len()), (1, 10));
    assert!(node.can_write());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_one_of_many_endpoints_has_its_turn() {
    let sink = Sink::start().await;
    sink.otherwise(Answer::from(200).after(Duration::from_millis(5)));
    let node = Node::start(LIMITS, "1h");
    let many: Vec<_> = (0..100).map(|n| sink.url(&format!("/{n}"))).collect();
    node.endpoints("many", &many).await;
    node.send("many", 10).await;
    let arrived = sink.wait_for(1000).await;
    for url in 0..100 {
        let path = format!("/{url}");
        let of_it = arrived.iter().filter(|arrival| arrival.path == path);
        assert_eq!(of_it.count(), 10, "{path}");
    }
}
