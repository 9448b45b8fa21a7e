//! Messages go out: signed, again until they are taken, and never forgotten.

use hookbox_testkit::clock::{eventually, unix_now};
use hookbox_testkit::{Answer, Arrival, Client, Sink};
use serde_json::{Value, json};
use standardwebhooks::Webhook;

use crate::given;

fn verify(secret: &str, arrival: &Arrival) -> Result<(), standardwebhooks::WebhookError> {
    let mut headers = http::HeaderMap::new();
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        headers.insert(name, arrival.headers[name].clone());
    }
    Webhook::new(secret)?.verify(&arrival.body, &headers)
}

/// The first attempt of a message to `acme`, once its result is written.
async fn settled(client: &Client, id: &str) -> Value {
    eventually("the attempt is shown", || async {
        let path = format!("/api/v1/app/acme/attempt/msg/{id}");
        given::all(client, &path).await.into_iter().next()
    })
    .await
}

#[tokio::test]
async fn a_message_arrives_signed_and_its_attempt_is_shown() {
    let sink = Sink::start().await;
    let server = given::setup().start().await;
    let client = server.client();
    let endpoint = given::endpoint(&client, "acme", &sink.url("/hooks")).await;
    let secret = given::secret(&client, "acme", &endpoint).await;
    let id = given::message(&client, "acme", &json!({"amount": 1})).await;

    let arrival = sink.wait_for(1).await.remove(0);
    assert_eq!(arrival.header("webhook-id"), id);
    verify(&secret, &arrival).expect("the official library accepts the signature");
    let other = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    verify(other, &arrival).expect_err("another secret does not fit");

    let attempt = settled(&client, &id).await;
    assert_eq!(attempt["responseStatusCode"], json!(200));
    assert_eq!(attempt["status"], json!(0));
    assert_eq!(attempt["endpointId"], endpoint["id"]);
}

#[tokio::test]
async fn a_retry_has_the_same_id_and_a_fresh_signature() {
    let sink = Sink::start().await;
    let server = given::setup()
        .env("HOOKBOX_RETRY_SCHEDULE", "1500ms,1500ms")
        .start()
        .await;
    let client = server.client();
    let endpoint = given::endpoint(&client, "acme", &sink.url("/")).await;
    let secret = given::secret(&client, "acme", &endpoint).await;
    sink.script([500_u16]);
    let id = given::message(&client, "acme", &json!({})).await;

    let tries = sink.wait_for(2).await;
    for arrival in &tries {
        assert_eq!(arrival.header("webhook-id"), id);
        verify(&secret, arrival).unwrap();
    }
    let time = |arrival: &Arrival| arrival.header("webhook-timestamp").parse::<i64>().unwrap();
    assert!(time(&tries[1]) > time(&tries[0]));
}

#[tokio::test]
async fn gone_disables_the_endpoint() {
    let sink = Sink::start().await;
    let server = given::setup().start().await;
    let client = server.client();
    let endpoint = given::endpoint(&client, "acme", &sink.url("/")).await;
    let path = format!(
        "/api/v1/app/acme/endpoint/{}",
        endpoint["id"].as_str().unwrap()
    );
    sink.script([410_u16]);
    given::message(&client, "acme", &json!({})).await;

    eventually("the endpoint is disabled", || async {
        let endpoint = client.get(&path).await.expect(200);
        (endpoint["disabled"] == json!(true)).then_some(())
    })
    .await;
    given::message(&client, "acme", &json!({})).await;
    assert_eq!(sink.arrivals().len(), 1);
}

#[tokio::test]
async fn a_dead_letter_is_listed_and_replayed() {
    let sink = Sink::start().await;
    let server = given::setup()
        .env("HOOKBOX_RETRY_SCHEDULE", "20ms")
        .start()
        .await;
    let client = server.client();
    given::endpoint(&client, "acme", &sink.url("/")).await;
    sink.script([500_u16, 500]);
    let id = given::message(&client, "acme", &json!({"n": 1})).await;

    let dead = eventually("it is a dead letter", || async {
        given::all(&client, "/api/v1/app/acme/dead")
            .await
            .into_iter()
            .next()
    })
    .await;
    assert_eq!(dead["messageId"], json!(id), "{dead}");
    let replayed = client
        .post("/api/v1/app/acme/dead/replay", &json!({"all": true}))
        .await;
    assert!(replayed.status.is_success(), "{replayed:?}");
    let tries = sink.wait_for(3).await;
    assert!(
        tries
            .iter()
            .all(|arrival| arrival.header("webhook-id") == id)
    );
    assert_eq!(
        given::all(&client, "/api/v1/app/acme/dead").await,
        [] as [Value; 0]
    );
}

#[tokio::test]
async fn a_delivered_message_is_sent_again_when_asked() {
    let sink = Sink::start().await;
    let server = given::setup().start().await;
    let client = server.client();
    let endpoint = given::endpoint(&client, "acme", &sink.url("/")).await;
    let id = given::message(&client, "acme", &json!({"n": 1})).await;
    // A try under way would be what is asked for.
    settled(&client, &id).await;

    let endpoint = endpoint["id"].as_str().unwrap();
    let path = format!("/api/v1/app/acme/msg/{id}/endpoint/{endpoint}/resend");
    let asked = client.post(&path, &json!({})).await;
    assert_eq!(asked.status, 202, "{asked:?}");
    let arrived = sink.wait_for(2).await;
    assert_eq!(
        arrived[0].header("webhook-id"),
        arrived[1].header("webhook-id")
    );
    assert_eq!(arrived[0].body, arrived[1].body);
}

#[tokio::test]
async fn an_idempotency_key_gives_the_same_answer_after_a_restart() {
    let sink = Sink::start().await;
    let mut server = given::setup().start().await;
    given::endpoint(&server.client(), "acme", &sink.url("/")).await;
    let body = json!({"eventType": "a.b", "payload": {"n": 1}}).to_string();
    let headers = [
        ("content-type".to_owned(), "application/json".to_owned()),
        ("idempotency-key".to_owned(), "auto_5f1c".to_owned()),
    ];
    let path = "/api/v1/app/acme/msg";

    let first = server
        .client()
        .send(http::Method::POST, path, &headers, body.as_bytes())
        .await;
    assert_eq!(first.status, 202);
    sink.wait_for(1).await;
    server.kill9().await;
    server.restart().await;
    let second = server
        .client()
        .send(http::Method::POST, path, &headers, body.as_bytes())
        .await;
    assert_eq!((second.status, &second.body), (first.status, &first.body));
    let other = server
        .client()
        .send(
            http::Method::POST,
            path,
            &headers,
            b"{\"eventType\":\"a.c\",\"payload\":{}}",
        )
        .await;
    assert!(other.status.is_client_error(), "{other:?}");
    assert_eq!(given::messages(&server, "acme").await.len(), 1);
}

#[tokio::test]
async fn an_event_id_is_taken_once() {
    let server = given::setup().start().await;
    let client = server.client();
    client
        .post("/api/v1/app", &json!({"name": "acme", "uid": "acme"}))
        .await
        .expect(201);
    let new = json!({"eventType": "a.b", "eventId": "order-1", "payload": {}});
    let made = client.post("/api/v1/app/acme/msg", &new).await.expect(202);
    let again = client.post("/api/v1/app/acme/msg", &new).await;
    assert_eq!(
        (again.status.as_u16(), again.code().as_str()),
        (409, "conflict")
    );
    let found = client.get("/api/v1/app/acme/msg/order-1").await.expect(200);
    assert_eq!(found["id"], made["id"]);
}

#[tokio::test]
async fn a_receiver_says_when_to_come_again() {
    let sink = Sink::start().await;
    let server = given::setup().start().await;
    given::endpoint(&server.client(), "acme", &sink.url("/")).await;
    sink.script([Answer::from(503).with("retry-after", "2")]);
    let asked = unix_now();
    given::message(&server.client(), "acme", &json!({})).await;
    let tries = sink.wait_for(2).await;
    let again: i64 = tries[1].header("webhook-timestamp").parse().unwrap();
    assert!(again - asked >= 2, "{} s", again - asked);
}

#[tokio::test]
async fn a_slow_endpoint_has_so_many_tries_at_once_and_keeps_nobody_else_waiting() {
    let (slow, quick) = (Sink::start().await, Sink::start().await);
    let server = given::setup()
        .env("HOOKBOX_ENDPOINT_CONCURRENCY", "3")
        .start()
        .await;
    let client = server.client();
    given::endpoint(&client, "slow", &slow.url("/")).await;
    given::endpoint(&client, "quick", &quick.url("/")).await;
    slow.otherwise(Answer::from(200).held());
    for number in 0..40 {
        given::message(&client, "slow", &json!({"number": number})).await;
    }
    slow.wait_for(3).await;
    for number in 0..40 {
        given::message(&client, "quick", &json!({"number": number})).await;
    }
    quick.wait_for(40).await;
    assert_eq!(slow.arrivals().len(), 3);

    slow.release();
    let mut ids: Vec<String> = slow
        .wait_for(40)
        .await
        .iter()
        .map(|arrival| arrival.header("webhook-id").to_owned())
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 40);
}
