//! Attempts: the history of tries.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use serde::Serialize;

use super::asked::{At, Reply};
use super::message::{self, MessageOut};
use super::page::{Order, list, page};
use super::query::Query;
use super::{Answer, Api, Fault, Shared};
use crate::model::{ApplicationId, Attempt, AttemptId, EndpointId, Message, MessageId, Time};
use crate::store::{AttemptFilter, Listing};

pub(super) fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route(
            "/api/v1/app/{app}/attempt/endpoint/{endpoint}",
            get(by_endpoint),
        )
        .route("/api/v1/app/{app}/attempt/msg/{msg}", get(by_message))
        .route("/api/v1/app/{app}/msg/{msg}/attempt", get(by_message))
        .route("/api/v1/app/{app}/msg/{msg}/attempt/{attempt}", get(show))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AttemptOut<'a> {
    id: AttemptId,
    msg_id: MessageId,
    endpoint_id: EndpointId,
    url: &'a str,
    timestamp: Time,
    status: u8,
    status_text: &'static str,
    /// 0 when there was no answer.
    response_status_code: u16,
    response_duration_ms: u32,
    response: String,
    trigger_type: u8,
    /// Why there was no answer.
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    msg: Option<MessageOut<'a>>,
}

impl<'a> AttemptOut<'a> {
    /// Shows an attempt.
    pub(super) fn of(attempt: &'a Attempt, with_content: bool) -> Self {
        let (status, status_text) = match attempt.succeeded {
            true => (0, "success"),
            false => (2, "fail"),
        };
        Self {
            id: attempt.id,
            msg_id: attempt.message_id,
            endpoint_id: attempt.endpoint_id,
            url: &attempt.url,
            timestamp: attempt.at,
            status,
            status_text,
            response_status_code: attempt.status.unwrap_or(0),
            response_duration_ms: attempt.duration_ms,
            response: match with_content {
                true => String::from_utf8_lossy(&attempt.response).into_owned(),
                false => String::new(),
            },
            trigger_type: u8::from(attempt.manual),
            error: attempt.error.as_deref(),
            msg: None,
        }
    }
}

/// Which attempts are asked for; `None` when they stand where no attempt ever stands.
fn filter(query: &Query) -> Result<Option<AttemptFilter>, Fault> {
    let status = query.parsed("status", "a number from 0 to 4", |text| {
        text.parse::<u8>().ok().filter(|status| *status <= 4)
    })?;
    let class = query.parsed(
        "status_code_class",
        "0, 100, 200, 300, 400 or 500",
        |text| {
            text.parse::<u16>()
                .ok()
                .filter(|class| [0, 100, 200, 300, 400, 500].contains(class))
        },
    )?;
    let filter = AttemptFilter {
        succeeded: status.map(|status| status == 0),
        status_class: class,
        messages: message::filter(query)?,
        ..AttemptFilter::default()
    };
    // An attempt is recorded when it is over: it is never pending, being sent, or canceled.
    Ok((!matches!(status, Some(1 | 3 | 4))).then_some(filter))
}

async fn by_message(State(api): Shared, At([app, msg]): At<2>, query: Query) -> Answer {
    let message = message::find(&api, &app, &msg).await?;
    let endpoint = match query.text("endpoint_id") {
        Some(key) => Some(api.store.endpoint(message.application_id, key).await?.id),
        None => None,
    };
    answer(
        &api,
        message.application_id,
        &query,
        (Some(message.id), endpoint),
    )
    .await
}

async fn by_endpoint(State(api): Shared, At([app, endpoint]): At<2>, query: Query) -> Answer {
    let application = api.store.application(&app).await?.id;
    let endpoint = api.store.endpoint(application, &endpoint).await?.id;
    answer(&api, application, &query, (None, Some(endpoint))).await
}

async fn answer(
    api: &Api,
    application: ApplicationId,
    query: &Query,
    (message, endpoint): (Option<MessageId>, Option<EndpointId>),
) -> Answer {
    let with_content = query.flag("with_content", true)?;
    let with_messages = query.flag("with_msg", false)?;
    let page = page(query, Order::Descending, |text| text.parse().ok())?;
    let listing = match filter(query)? {
        Some(filter) => {
            let filter = AttemptFilter {
                message,
                endpoint,
                ..filter
            };
            api.store.attempts(application, filter, page).await?
        }
        None => Listing {
            data: Vec::new(),
            more: false,
        },
    };
    let messages = match with_messages {
        true => messages(api, application, &listing).await?,
        false => BTreeMap::new(),
    };
    let data = listing.data.iter().map(|attempt| AttemptOut {
        msg: messages
            .get(&attempt.message_id)
            .map(|message| MessageOut::of(message, with_content)),
        ..AttemptOut::of(attempt, with_content)
    });
    let data = data.collect();
    list(&listing, |attempt| attempt.id.to_string(), data)
}

/// The messages of a page of attempts.
async fn messages(
    api: &Api,
    application: ApplicationId,
    listing: &Listing<Attempt>,
) -> Result<BTreeMap<MessageId, Message>, Fault> {
    let ids = listing.data.iter().map(|attempt| attempt.message_id);
    let ids: BTreeSet<_> = ids.collect();
    let mut found = BTreeMap::new();
    for id in ids {
        found.insert(id, api.store.message(application, &id.to_string()).await?);
    }
    Ok(found)
}

async fn show(State(api): Shared, At([app, msg, attempt]): At<3>) -> Answer {
    let message = message::find(&api, &app, &msg).await?.id;
    let id = attempt.parse().map_err(|_| Fault::NotFound)?;
    Reply::ok(&AttemptOut::of(
        &api.store.attempt(message, id).await?,
        true,
    ))
}
