//! SIGTERM: what was begun is finished, nothing is lost, nothing is sent twice.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hookbox_testkit::{Answer, Sink, sign};
use serde_json::{Value, json};

use crate::given;

const WITHIN: Duration = Duration::from_secs(25);

#[tokio::test(flavor = "multi_thread")]
async fn a_clean_stop_under_load_repeats_nothing_and_loses_nothing() {
    let sink = Sink::start().await;
    sink.otherwise(Answer::from(200).after(Duration::from_millis(30)));
    let mut server = given::stripe_inbox(&sink).await;
    let stop = Arc::new(AtomicBool::new(false));

    let mut senders = tokio::task::JoinSet::new();
    for sender in 0..8 {
        let (client, stop) = (server.stranger(), Arc::clone(&stop));
        senders.spawn(async move {
            let mut accepted = Vec::new();
            for number in 0.. {
                let id = format!("evt_{sender}_{number}");
                let event = sign::stripe_event(&id);
                let body = hookbox_testkit::http::full(&event.body);
                let sent = client
                    .try_send(http::Method::POST, "/in/stripe", &event.headers, body)
                    .await;
                match sent {
                    Ok(reply) if reply.status == 200 => accepted.push(id),
                    // Not taken any more: the provider comes again another day.
                    _ if stop.load(Ordering::Relaxed) => break,
                    other => panic!("refused while it ran: {other:?}"),
                }
            }
            accepted
        });
    }
    sink.wait_for(100).await;
    stop.store(true, Ordering::Relaxed);
    let asked = Instant::now();
    let status = server.terminate().await;
    assert!(status.success(), "{status}");
    assert!(asked.elapsed() < WITHIN, "{:?}", asked.elapsed());

    let accepted: HashSet<String> = senders.join_all().await.into_iter().flatten().collect();
    server.restart().await;
    let arrived = sink.wait_for(accepted.len()).await;
    let name = |body: &[u8]| {
        serde_json::from_slice::<Value>(body).unwrap()["id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let distinct: HashSet<_> = arrived.iter().map(|arrival| name(&arrival.body)).collect();
    assert_eq!(arrived.len(), distinct.len(), "something was sent twice");
    let lost: Vec<_> = accepted.difference(&distinct).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
}

#[tokio::test]
async fn a_receiver_that_does_not_answer_does_not_keep_the_server() {
    let sink = Sink::start().await;
    let mut server = given::stripe_inbox(&sink).await;
    sink.script([Answer::from(200).held()]);
    server
        .stranger()
        .event("stripe", &sign::stripe_event("evt_held"))
        .await
        .expect(200);
    sink.wait_for(1).await;

    let asked = Instant::now();
    let status = server.terminate().await;
    assert!(status.success(), "{status}");
    assert!(asked.elapsed() < WITHIN, "{:?}", asked.elapsed());
    server.restart().await;
    let tries = sink.wait_for(2).await;
    assert_eq!(tries[0].header("webhook-id"), tries[1].header("webhook-id"));
    assert_eq!(given::messages(&server, "default").await.len(), 1);
}

#[tokio::test]
async fn a_second_process_on_the_same_file_is_refused() {
    let sink = Sink::start().await;
    let server = given::stripe_inbox(&sink).await;
    let other = server.setup().clone().env("HOOKBOX_LISTEN", "127.0.0.1:0");
    let refused = other.run(&["serve"]).await;
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("hookbox.db"), "names the file: {said}");
    let taken = server
        .stranger()
        .event("stripe", &sign::stripe_event("evt_1"))
        .await
        .expect(200);
    assert_eq!(taken, json!({"received": true}));
}
