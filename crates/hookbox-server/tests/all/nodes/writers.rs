//! Many writers with the same ids and with neighbouring ones.

use std::collections::HashMap;

use hookbox_testkit::{Database, Sink};
use serde_json::json;
use tokio::task::JoinSet;

use super::load::{event, prepare};
use super::{node, nodes, on_both, settled};

const WRITERS: usize = 32;
const IDS: usize = 60;

on_both!(writers_of_the_same_and_of_neighbouring_ids_wait_for_each_other);

async fn writers_of_the_same_and_of_neighbouring_ids_wait_for_each_other(database: &Database) {
    let sink = Sink::start().await;
    let nodes = nodes(node(database), 2).await;
    prepare(&nodes[0].client(), ["acme"], |path| sink.url(path)).await;
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let client = nodes[writer % nodes.len()].client();
        writers.spawn(async move {
            let mut first = Vec::new();
            for step in 0..IDS {
                // Half of them go up, half go down, so that they meet at neighbours too.
                let number = if writer % 4 < 2 { step } else { IDS - 1 - step };
                let event = event(&format!("evt_{number:04}"));
                let taken = client.event("stripe", &event).await.expect(200);
                if taken == json!({"received": true}) {
                    first.push(format!("evt_{number:04}"));
                }
                let name = format!("out_{number:04}");
                let new = json!({"eventType": "a.b", "eventId": name, "payload": {"id": name}});
                let made = client.post("/api/v1/app/acme/msg", &new).await;
                match made.status.as_u16() {
                    202 => first.push(name),
                    409 => {}
                    _ => panic!("{made:?}"),
                }
            }
            first
        });
    }
    let mut firsts = HashMap::<String, usize>::new();
    for name in writers.join_all().await.into_iter().flatten() {
        *firsts.entry(name).or_default() += 1;
    }
    assert_eq!(firsts.len(), 2 * IDS, "no insert was lost");
    assert!(firsts.values().all(|times| *times == 1), "{firsts:?}");
    sink.wait_for(2 * IDS).await;
    settled(database).await;
    assert_eq!(sink.count(), 2 * IDS);
    let messages = database.number("SELECT count(*) FROM message").await;
    assert_eq!(usize::try_from(messages), Ok(2 * IDS));
    let receipts = database.number("SELECT count(*) FROM receipt").await;
    assert_eq!(usize::try_from(receipts), Ok(IDS));
}
