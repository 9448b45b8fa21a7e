//! Event types.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use serde::Serialize;
use serde_json::{Map, Value};

use super::asked::{Asked, At, Reply};
use super::page::{Order, list, page};
use super::query::Query;
use super::wire::{self, Fields, is_name};
use super::{Answer, Api, Fault, Shared};
use crate::model::{EventType, Time};
use crate::store::Error;

pub(super) fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/api/v1/event-type", get(list_all).post(create))
        .route("/api/v1/event-type/{name}", get(show))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventTypeOut<'a> {
    name: &'a str,
    description: &'a str,
    archived: bool,
    deprecated: bool,
    schemas: Option<&'a Value>,
    feature_flags: &'a [String],
    feature_flag: Option<&'a str>,
    group_name: Option<&'a str>,
    created_at: Time,
    updated_at: Time,
}

impl<'a> EventTypeOut<'a> {
    fn of(event_type: &'a EventType, with_content: bool) -> Self {
        Self {
            name: &event_type.name,
            description: &event_type.description,
            archived: event_type.archived,
            deprecated: event_type.deprecated,
            schemas: event_type.schemas.as_ref().filter(|_| with_content),
            feature_flags: &event_type.feature_flags,
            feature_flag: event_type.feature_flags.first().map(String::as_str),
            group_name: event_type.group_name.as_deref(),
            created_at: event_type.created_at,
            updated_at: event_type.updated_at,
        }
    }
}

fn read(mut fields: Fields<'_>, now: Time) -> Result<EventType, Fault> {
    let name = fields
        .text("name")?
        .checked("name", |name| wire::event_type(name))?;
    let schemas =
        fields.take::<Map<String, Value>>("schemas", "an object of schemas by version")?;
    let flags = fields.texts("featureFlags")?.value();
    let flag = fields.text("featureFlag")?.value();
    let new = EventType {
        name: name.required("name")?,
        description: fields.text("description")?.value().unwrap_or_default(),
        archived: fields.flag("archived")?.value().unwrap_or(false),
        deprecated: fields.flag("deprecated")?.value().unwrap_or(false),
        schemas: schemas.value().map(Value::Object),
        feature_flags: flags.unwrap_or_else(|| flag.into_iter().collect()),
        group_name: fields.text("groupName")?.value(),
        created_at: now,
        updated_at: now,
    };
    fields.finish()?;
    Ok(new)
}

async fn create(State(api): Shared, asked: Asked) -> Answer {
    let now = api.clock.now();
    let new = read(asked.fields()?, now)?;
    let reply = Reply::json(StatusCode::CREATED, &EventTypeOut::of(&new, true))?;
    match api
        .store
        .create_event_type(new, asked.once(&reply, now))
        .await
    {
        Ok(()) => Ok(reply),
        Err(Error::Conflict(detail)) => Err(Fault::Conflict("event_type_exists", detail.into())),
        Err(error) => Err(error.into()),
    }
}

async fn list_all(State(api): Shared, query: Query) -> Answer {
    let (archived, content) = (
        query.flag("include_archived", false)?,
        query.flag("with_content", false)?,
    );
    let page = page(&query, Order::Ascending, |text| {
        is_name(text).then(|| text.to_owned())
    })?;
    let listing = api.store.event_types(page, archived).await?;
    let data = listing
        .data
        .iter()
        .map(|one| EventTypeOut::of(one, content))
        .collect();
    list(&listing, |event_type| event_type.name.clone(), data)
}

async fn show(State(api): Shared, At([name]): At<1>) -> Answer {
    Reply::ok(&EventTypeOut::of(&api.store.event_type(&name).await?, true))
}
