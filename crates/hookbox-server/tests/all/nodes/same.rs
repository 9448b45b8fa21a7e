//! The same event from many connections at once, over several nodes.

use hookbox_testkit::{Database, Sink};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::load::{event, prepare};
use super::{node, nodes, on_both, settled};

on_both!(an_event_that_comes_from_everywhere_at_once_is_recorded_once);

async fn an_event_that_comes_from_everywhere_at_once_is_recorded_once(database: &Database) {
    const CONNECTIONS: usize = 64;
    const EVENTS: usize = 5;
    let sink = Sink::start().await;
    let nodes = nodes(node(database), 3).await;
    prepare(&nodes[0].client(), [""; 0], |path| sink.url(path)).await;
    for number in 0..EVENTS {
        let event = event(&format!("evt_{number}"));
        let mut senders = JoinSet::new();
        for connection in 0..CONNECTIONS {
            let (client, event) = (nodes[connection % nodes.len()].stranger(), event.clone());
            senders.spawn(async move { client.event("stripe", &event).await.expect(200) });
        }
        let answers: Vec<Value> = senders.join_all().await;
        let new = json!({"received": true});
        let first = answers.iter().filter(|answer| **answer == new).count();
        assert_eq!(first, 1, "{answers:?}");
        let again = answers
            .iter()
            .filter(|answer| answer["duplicate"] == json!(true));
        assert_eq!(again.count(), CONNECTIONS - 1);
    }
    sink.wait_for(EVENTS).await;
    settled(database).await;
    assert_eq!(sink.count(), EVENTS);
    let rows = |table: &str| format!("SELECT count(*) FROM {table}");
    for table in ["receipt", "message", "settled"] {
        let count = database.number(&rows(table)).await;
        assert_eq!(usize::try_from(count), Ok(EVENTS), "{table}");
    }
}
