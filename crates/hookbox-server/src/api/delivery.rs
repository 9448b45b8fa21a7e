//! Deliveries: where a message stands with each endpoint, and sending it again.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use serde::Serialize;
use serde_json::json;

use super::asked::{Asked, At, Reply};
use super::endpoint::EndpointOut;
use super::message::find;
use super::page::{Order, list, page};
use super::query::Query;
use super::{Answer, Api, Shared};
use crate::model::delivery::State as Standing;
use crate::model::{Delivery, Endpoint, Time};

pub(super) fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/api/v1/app/{app}/msg/{msg}/endpoint", get(endpoints))
        .route(
            "/api/v1/app/{app}/msg/{msg}/endpoint/{endpoint}/resend",
            post(resend),
        )
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MessageEndpointOut<'a> {
    #[serde(flatten)]
    endpoint: EndpointOut<'a>,
    status: u8,
    status_text: &'static str,
    next_attempt: Option<Time>,
}

impl<'a> MessageEndpointOut<'a> {
    fn of((delivery, endpoint): &'a (Delivery, Endpoint), expanded: bool) -> Self {
        let (status, status_text) = status(delivery.state, expanded);
        Self {
            endpoint: EndpointOut::of(endpoint),
            status,
            status_text,
            next_attempt: match delivery.state {
                Standing::Scheduled { at } => Some(at),
                _ => None,
            },
        }
    }
}

/// The number and the name that Svix gives to where a delivery stands. Only newer clients know `canceled`.
fn status(state: Standing, expanded: bool) -> (u8, &'static str) {
    match state {
        Standing::Delivered => (0, "success"),
        Standing::Scheduled { .. } | Standing::Held => (1, "pending"),
        Standing::Cancelled if expanded => (4, "canceled"),
        Standing::Dead { .. } | Standing::Cancelled => (2, "fail"),
        Standing::Leased { .. } => (3, "sending"),
    }
}

async fn endpoints(State(api): Shared, At([app, msg]): At<2>, query: Query) -> Answer {
    let expanded = query.flag("expanded_statuses", false)?;
    let page = page(&query, Order::Descending, |text| text.parse().ok())?;
    let message = find(&api, &app, &msg).await?.id;
    let listing = api.store.deliveries(message, page).await?;
    let data = listing
        .data
        .iter()
        .map(|one| MessageEndpointOut::of(one, expanded))
        .collect();
    list(&listing, |(_, endpoint)| endpoint.id.to_string(), data)
}

async fn resend(State(api): Shared, At([app, msg, endpoint]): At<3>, asked: Asked) -> Answer {
    let now = api.clock.now();
    let message = find(&api, &app, &msg).await?;
    let endpoint = api
        .store
        .endpoint(message.application_id, &endpoint)
        .await?
        .id;
    let reply = Reply::json(StatusCode::ACCEPTED, &json!({}))?;
    let once = asked.once(&reply, now);
    api.store.replay(message.id, endpoint, now, once).await?;
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Cause;

    #[test]
    fn every_standing_has_a_number() {
        let number = |state| status(state, false).0;
        let at = Time(0);
        let dead = Standing::Dead {
            cause: Cause::Refused,
        };
        assert_eq!(number(Standing::Delivered), 0);
        assert_eq!(number(Standing::Scheduled { at }), 1);
        assert_eq!(number(Standing::Held), 1);
        assert_eq!(number(dead), 2);
        assert_eq!(number(Standing::Leased { until: at }), 3);
        assert_eq!(number(Standing::Cancelled), 2);
        assert_eq!(status(Standing::Cancelled, true), (4, "canceled"));
    }
}
