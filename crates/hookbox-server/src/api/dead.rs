//! Dead letters.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use serde::Serialize;
use serde_json::json;

use super::asked::{Asked, At, Reply};
use super::attempt::AttemptOut;
use super::page::{Order, list, page};
use super::query::Query;
use super::{Answer, Api, Fault, Shared};
use crate::model::delivery::State as Standing;
use crate::model::{ApplicationId, EndpointId, MessageId};
use crate::store::{DeadFilter, DeadLetter, DeadMove};

pub(super) fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/api/v1/app/{app}/dead", get(list_all))
        .route("/api/v1/app/{app}/dead/replay", post(replay))
        .route("/api/v1/app/{app}/dead/discard", post(discard))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DeadOut<'a> {
    message_id: MessageId,
    endpoint_id: EndpointId,
    event_type: &'a str,
    url: &'a str,
    cause: Option<&'static str>,
    failures: u32,
    last_attempt: Option<AttemptOut<'a>>,
}

impl<'a> DeadOut<'a> {
    fn of(letter: &'a DeadLetter) -> Self {
        Self {
            message_id: letter.delivery.message_id,
            endpoint_id: letter.delivery.endpoint_id,
            event_type: &letter.event_type,
            url: &letter.url,
            cause: match letter.delivery.state {
                Standing::Dead { cause } => Some(cause.code()),
                _ => None,
            },
            failures: letter.delivery.failures,
            last_attempt: letter
                .last_attempt
                .as_ref()
                .map(|attempt| AttemptOut::of(attempt, true)),
        }
    }
}

/// Where a dead letter stands in the list: its message and its endpoint.
fn cursor(letter: &DeadLetter) -> String {
    format!(
        "{}.{}",
        letter.delivery.message_id, letter.delivery.endpoint_id
    )
}

fn read_cursor(text: &str) -> Option<(MessageId, EndpointId)> {
    let (message, endpoint) = text.split_once('.')?;
    message.parse().ok().zip(endpoint.parse().ok())
}

/// The dead letters that a caller means, by the ids or names of their message and endpoint. Another's ids are not
/// found, rather than matching nothing.
async fn filter(
    api: &Api,
    application: ApplicationId,
    message: Option<&str>,
    endpoint: Option<&str>,
) -> Result<DeadFilter, Fault> {
    let mut filter = DeadFilter::default();
    if let Some(key) = message {
        filter.message = Some(api.store.message(application, key).await?.id);
    }
    if let Some(key) = endpoint {
        filter.endpoint = Some(api.store.endpoint(application, key).await?.id);
    }
    Ok(filter)
}

async fn list_all(State(api): Shared, At([app]): At<1>, query: Query) -> Answer {
    let either = |name, short| query.text(name).or(query.text(short));
    let (message, endpoint) = (
        either("message_id", "message"),
        either("endpoint_id", "endpoint"),
    );
    let page = page(&query, Order::Descending, read_cursor)?;
    let application = api.store.application(&app).await?.id;
    let filter = filter(&api, application, message, endpoint).await?;
    let listing = api.store.dead(application, filter, page).await?;
    let data = listing.data.iter().map(DeadOut::of).collect();
    list(&listing, cursor, data)
}

async fn replay(State(api): Shared, at: At<1>, asked: Asked) -> Answer {
    move_all(&api, at, &asked, DeadMove::Replay).await
}

async fn discard(State(api): Shared, at: At<1>, asked: Asked) -> Answer {
    move_all(&api, at, &asked, DeadMove::Discard).await
}

/// Moves the dead letters that the body names. A body that names none means none, not all. A repeat finds
/// what the first call moved no longer dead, so it needs no memory of its own.
async fn move_all(api: &Api, At([app]): At<1>, asked: &Asked, to: DeadMove) -> Answer {
    let mut fields = asked.fields()?;
    let (message, endpoint) = (
        fields.text("messageId")?.value(),
        fields.text("endpointId")?.value(),
    );
    let all = fields.flag("all")?.value().unwrap_or(false);
    fields.finish()?;
    if message.is_none() && endpoint.is_none() && !all {
        return Err(Fault::field(
            "",
            "must have messageId, endpointId, or all: true",
        ));
    }
    let application = api.store.application(&app).await?.id;
    let filter = filter(api, application, message.as_deref(), endpoint.as_deref()).await?;
    let count = api
        .store
        .move_dead(application, filter, to, api.clock.now())
        .await?;
    Reply::ok(&json!({ "count": count }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_a_pair() {
        let pair = (MessageId([1; 16]), EndpointId([2; 16]));
        assert_eq!(read_cursor(&format!("{}.{}", pair.0, pair.1)), Some(pair));
        for text in ["", ".", "msg_01", "ep_01.msg_01"] {
            assert_eq!(read_cursor(text), None, "{text}");
        }
    }
}
