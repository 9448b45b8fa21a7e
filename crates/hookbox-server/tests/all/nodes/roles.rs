//! Nodes with different roles work as one, and each knows at once what another was told.

use std::time::{Duration, Instant};

use hookbox_testkit::clock::eventually;
use hookbox_testkit::database::Kind;
use hookbox_testkit::{Client, Database, Sink, sign};
use serde_json::json;

use super::{node, nodes, on_both, settled};
use crate::given;

on_both!(what_one_node_takes_another_delivers);
on_both!(what_one_node_is_told_the_others_know);

async fn what_one_node_takes_another_delivers(database: &Database) {
    const MESSAGES: usize = 10;
    let sink = Sink::start().await;
    let front = node(database)
        .env("HOOKBOX_ROLE", "doors,api")
        .start()
        .await;
    let with_role = |role| front.setup().node().env("HOOKBOX_ROLE", role).start();
    let engine = with_role("engine").await;
    let upkeep = with_role("upkeep").await;
    given::endpoint(&front.client(), "acme", &sink.url("/")).await;

    let began = Instant::now();
    for number in 1..=MESSAGES {
        given::message(&front.client(), "acme", &json!({"number": number})).await;
        sink.wait_for(number).await;
    }
    // Without being woken it would look once a second.
    let took = began.elapsed();
    if database.kind() == Kind::Postgres {
        assert!(took < Duration::from_secs(5), "{MESSAGES} took {took:?}");
    }
    for other in [&engine, &upkeep] {
        let not_here = other.client().get("/api/v1/app").await;
        assert_eq!(not_here.status, 404, "{not_here:?}");
        let no_door = other
            .stranger()
            .event("stripe", &sign::stripe_event("evt_1"))
            .await;
        assert_eq!(no_door.status, 404, "{no_door:?}");
    }
    settled(database).await;
    assert_eq!(sink.count(), MESSAGES);
}

async fn what_one_node_is_told_the_others_know(database: &Database) {
    let sink = Sink::start().await;
    let nodes = nodes(node(database), 2).await;
    let (one, other) = (nodes[0].client(), nodes[1].client());

    given::endpoint(&one, "acme", &sink.url("/first")).await;
    given::message(&other, "acme", &json!({})).await;
    sink.wait_for(1).await;
    given::endpoint(&one, "acme", &sink.url("/second")).await;
    given::message(&other, "acme", &json!({})).await;
    sink.wait_for(3).await;

    let new = json!({
        "name": "shop", "provider": "stripe", "secrets": [sign::STRIPE_SECRET], "forward": [sink.url("/shop")],
    });
    one.post("/api/v1/source", &new).await.expect(201);
    let event = sign::stripe_event("evt_1");
    let taken = other.event("shop", &event).await.expect(200);
    assert_eq!(taken, json!({"received": true}));
    let again = one.event("shop", &event).await.expect(200);
    assert_eq!(again["duplicate"], json!(true));
    sink.wait_for(4).await;
    settled(database).await;
    assert_eq!(sink.count(), 4);

    let token = one
        .post("/api/v1/token", &json!({"name": "ours"}))
        .await
        .expect(201);
    let text = token["token"].as_str().expect("a token");
    let ours = nodes[1].stranger().with_token(text);
    ours.get("/api/v1/app").await.expect(200);
    let id = token["id"].as_str().expect("an id");
    one.delete(&format!("/api/v1/token/{id}")).await.expect(204);
    let revoked = Instant::now();
    eventually("a token is refused", || refused(&ours)).await;
    let took = revoked.elapsed();
    assert!(took < Duration::from_secs(2), "refused only after {took:?}");
}

async fn refused(client: &Client) -> Option<()> {
    let reply = client.get("/api/v1/app").await;
    (reply.status == 401).then_some(())
}

on_both!(nodes_that_start_at_once_on_an_empty_database_agree);

async fn nodes_that_start_at_once_on_an_empty_database_agree(database: &Database) {
    let file: String = ["stripe", "github", "shopify"]
        .iter()
        .map(|name| {
            format!(
                "[[source]]\nname = \"{name}\"\nprovider = \"{name}\"\nsecrets = [\"{}\"]\n\
                 forward = [\"http://127.0.0.1:9/{name}\"]\n",
                sign::STRIPE_SECRET
            )
        })
        .collect();
    let first = node(database).config(&file);
    let (second, third) = (first.node().config(&file), first.node().config(&file));
    let started = tokio::join!(first.start(), second.start(), third.start());
    for server in [&started.0, &started.1, &started.2] {
        let sources = server.client().get("/api/v1/source").await.expect(200);
        assert_eq!(
            sources["data"].as_array().map(Vec::len),
            Some(3),
            "{sources}"
        );
        let event = sign::stripe_event("evt_1");
        server.stranger().event("stripe", &event).await.expect(200);
    }
    let endpoints = "SELECT count(*) FROM endpoint WHERE deleted_at IS NULL";
    assert_eq!(database.number(endpoints).await, 3);
}
