//! The story itself: each line is printed after it was seen to be true.

use std::time::Duration;

use hookbox::{Options, Provider};
use http::{HeaderMap, Method};
use serde_json::{Value, json};
use sha2::Sha256;

use super::STRIPE_SECRET;
use super::receiver::{Got, Receiver};
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::out::Out;
use crate::egress::{self, Limits, Policy, Request, Resolver};
use crate::model::Clock;

const PATIENCE: Duration = Duration::from_secs(8);

pub(super) struct Story<'a> {
    pub(super) out: &'a mut Out,
    pub(super) client: &'a Client,
    pub(super) url: &'a str,
}

/// Goes on only when what the story is about to say is true.
fn expect(holds: bool, what: &str) -> Result<(), Error> {
    if holds {
        Ok(())
    } else {
        Err(Error::Failed(format!(
            "the demo expected something else: {what}"
        )))
    }
}

impl Story<'_> {
    pub(super) async fn tell(&mut self, app: &Receiver, customer: &Receiver) -> Result<(), Error> {
        self.receive(app).await?;
        self.send(customer).await?;
        // Had the second copy been forwarded, it would be here by now.
        expect(app.got().len() == 1, "the event reached your app once")
    }

    async fn receive(&mut self, app: &Receiver) -> Result<(), Error> {
        self.out
            .line("RECEIVE  One Stripe event arrives twice and takes effect once.\n");
        let event = json!({
            "id": "evt_demo_1", "object": "event", "type": "invoice.paid", "created": Clock.now().unix_seconds(),
            "data": {"object": {"id": "in_1", "object": "invoice", "amount_paid": 1999}},
        })
        .to_string();
        let first = self.post_as_stripe(&event).await?;
        self.say(
            "Stripe posts event evt_demo_1 to /in/stripe",
            &format!("200 {first}"),
        );
        expect(first == json!({"received": true}), "the first copy is new")?;
        let second = self.post_as_stripe(&event).await?;
        self.say(
            "It did not see the answer, and posts it again",
            &format!("200 {second}"),
        );
        expect(
            second["duplicate"] == true,
            "the second copy is called a duplicate",
        )?;
        let got = app.wait_for(1, PATIENCE).await;
        let only = got.first().filter(|_| got.len() == 1);
        let only =
            only.ok_or_else(|| Error::Failed("the event did not reach your app once".to_owned()))?;
        expect(only.body == event, "your app got the exact bytes")?;
        self.verify("default", only).await?;
        self.say("Your app gets it", "once, byte for byte, signature valid");
        self.out.line("");
        Ok(())
    }

    async fn send(&mut self, customer: &Receiver) -> Result<(), Error> {
        self.out
            .line("SEND     One message arrives although its receiver fails twice.\n");
        self.client
            .post("/api/v1/app", &json!({"name": "Demo", "uid": "demo"}))
            .await?;
        self.client
            .post("/api/v1/app/demo/endpoint", &json!({"url": customer.url}))
            .await?;
        let body = json!({"eventType": "invoice.paid", "payload": {"id": "in_1", "amount": 1999}});
        let message = self.client.post("/api/v1/app/demo/msg", &body).await?;
        let id = message["id"].as_str().unwrap_or_default().to_owned();
        self.say(
            "Your backend sends invoice.paid over the API",
            &format!("{} {id}", message.status),
        );
        for number in 1..=3 {
            let got = customer.wait_for(number, PATIENCE).await;
            let Some(try_) = got.get(number - 1) else {
                return Err(Error::Failed(format!("try {number} did not come")));
            };
            expect(
                header(&try_.headers, "webhook-id") == id,
                "every try carries the message's id",
            )?;
            self.verify("demo", try_).await?;
            let time = try_.at.to_string();
            let outcome = if try_.answered == 200 {
                "taken, signature valid"
            } else {
                "tried again in about 1 s"
            };
            self.say(
                &format!("Try {number} at {}, same webhook-id", &time[11..23]),
                &format!("{} {outcome}", try_.answered),
            );
        }
        self.out.line("");
        Ok(())
    }

    fn say(&mut self, what: &str, result: &str) {
        self.out.line(&format!("  {what:<47} {result}"));
    }

    /// Posts an event as Stripe does: signed over the time and the body.
    async fn post_as_stripe(&self, event: &str) -> Result<Value, Error> {
        use hmac::{KeyInit as _, Mac as _};
        let time = Clock.now().unix_seconds();
        let mut mac = hmac::Hmac::<Sha256>::new_from_slice(STRIPE_SECRET.as_bytes())
            .map_err(|error| Error::Failed(error.to_string()))?;
        mac.update(format!("{time}.{event}").as_bytes());
        let signature = format!("t={time},v1={}", hex::encode(mac.finalize().into_bytes()));
        let failed = |error: &dyn std::fmt::Display| Error::Failed(error.to_string());
        let mut headers = HeaderMap::new();
        headers.insert(
            "content-type",
            http::HeaderValue::from_static("application/json"),
        );
        headers.insert(
            "stripe-signature",
            signature.parse().map_err(|error| failed(&error))?,
        );
        let uri = format!("{}/in/stripe", self.url)
            .parse()
            .map_err(|error| failed(&error))?;
        let way = egress::Client::new(Policy::Trusted, Resolver::system());
        let request = Request {
            uri,
            headers,
            body: event.to_owned().into(),
        };
        let answer = way
            .exchange(Method::POST, request, &Limits::default())
            .await
            .map_err(|error| failed(&error))?;
        expect(answer.status == 200, "Stripe is answered 200")?;
        serde_json::from_slice(&answer.body).map_err(|error| failed(&error))
    }

    /// Verifies a request as its receiver would, with the endpoint's secret.
    async fn verify(&self, app: &str, got: &Got) -> Result<(), Error> {
        let endpoints = self
            .client
            .get(&format!("/api/v1/app/{app}/endpoint"))
            .await?;
        let endpoint = endpoints["data"][0]["id"].as_str().unwrap_or_default();
        let secret = self
            .client
            .get(&format!("/api/v1/app/{app}/endpoint/{endpoint}/secret"))
            .await?;
        let secret = secret["key"].as_str().unwrap_or_default().to_owned();
        let failed = |error: &dyn std::fmt::Display| {
            Error::Failed(format!("the signature is not valid: {error}"))
        };
        Provider::by_name("standard-webhooks")
            .ok_or_else(|| failed(&"no such provider"))?
            .verifier(&[secret], &Options::default())
            .map_err(|error| failed(&error))?
            .verify(&got.headers, &got.body, Clock.now().unix_seconds())
            .map(|_| ())
            .map_err(|error| failed(&error))
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}
