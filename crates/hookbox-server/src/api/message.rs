//! Messages.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::value::RawValue;

use super::application::Wanted as WantedApplication;
use super::asked::{Asked, At, Reply};
use super::error::Place;
use super::page::{Order, list, page};
use super::query::Query;
use super::wire::{self, Fields, Sent, channels, is_name};
use super::{Answer, Api, Fault, Shared, count};
use crate::model::{Application, Message, MessageId, Time};
use crate::store::{Draft, Error, MessageFilter};

pub(super) fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/api/v1/app/{app}/msg", get(list_all).post(create))
        .route("/api/v1/app/{app}/msg/{msg}", get(show))
}

/// The most channels of a message.
const MOST_CHANNELS: usize = 5;

/// A payload as it is shown: always an object, as SDKs demand.
enum Payload<'a> {
    /// It was not asked for.
    Hidden,
    /// An object, exactly as it came.
    Object(&'a RawValue),
    /// Another text that came by a source.
    Text(&'a str),
    /// Bytes that are no text.
    Bytes(&'a [u8]),
}

impl<'a> Payload<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        match serde_json::from_slice::<&RawValue>(bytes) {
            Ok(raw) if raw.get().starts_with('{') => Self::Object(raw),
            _ => str::from_utf8(bytes).map_or(Self::Bytes(bytes), Self::Text),
        }
    }
}

impl Serialize for Payload<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entry = match self {
            Self::Object(raw) => return raw.serialize(serializer),
            Self::Hidden => None,
            Self::Text(text) => Some(("text", Cow::Borrowed(*text))),
            Self::Bytes(bytes) => Some(("base64", STANDARD.encode(bytes).into())),
        };
        let mut map = serializer.serialize_map(None)?;
        if let Some((name, value)) = entry {
            map.serialize_entry(name, &value)?;
        }
        map.end()
    }
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageOut<'a> {
    id: MessageId,
    event_id: Option<&'a str>,
    event_type: &'a str,
    channels: Option<&'a [String]>,
    payload: Payload<'a>,
    timestamp: Time,
}

impl<'a> MessageOut<'a> {
    /// Shows a message.
    pub(super) fn of(message: &'a Message, with_content: bool) -> Self {
        Self {
            id: message.id,
            event_id: message.event_id.as_deref(),
            event_type: &message.event_type,
            channels: some(&message.channels),
            payload: match with_content {
                true => Payload::of(&message.payload),
                false => Payload::Hidden,
            },
            timestamp: message.created_at,
        }
    }
}

fn some(channels: &[String]) -> Option<&[String]> {
    (!channels.is_empty()).then_some(channels)
}

/// What a body says of a message.
struct Wanted<'a> {
    event_type: String,
    event_id: Option<String>,
    channels: Vec<String>,
    payload: &'a RawValue,
    /// The application to make when it does not exist.
    application: Option<Application>,
}

impl<'a> Wanted<'a> {
    fn read(mut fields: Fields<'a>, app: &str, now: Time) -> Result<Self, Fault> {
        let event_type = fields
            .text("eventType")?
            .checked("eventType", |name| wire::event_type(name))?;
        let list = fields.texts("channels")?;
        let wanted = Self {
            event_type: event_type.required("eventType")?,
            event_id: fields.uid("eventId", MessageId::PREFIX)?.value(),
            channels: list
                .checked("channels", |list| channels(list, MOST_CHANNELS))?
                .value()
                .unwrap_or_default(),
            payload: payload(&mut fields)?,
            application: application(&mut fields, app, now)?,
        };
        refuse_what_would_change_it(&mut fields)?;
        // How long it is kept is the operator's to say, and tags only serve searches that are not offered.
        for name in ["payloadRetentionPeriod", "payloadRetentionHours", "tags"] {
            fields.raw(name);
        }
        fields.finish()?;
        Ok(wanted)
    }
}

fn payload<'a>(fields: &mut Fields<'a>) -> Result<&'a RawValue, Fault> {
    match fields.raw("payload") {
        Some(raw) if raw.get().starts_with('{') => Ok(raw),
        Some(_) => Err(Fault::field("payload", "must be an object")),
        None => Err(Fault::field("payload", "is required")),
    }
}

/// Fields that Svix acts on and Hookbox does not: the message would not go out as its sender means it.
fn refuse_what_would_change_it(fields: &mut Fields<'_>) -> Result<(), Fault> {
    for name in ["deliverAt", "transformationsParams"] {
        match fields.raw(name) {
            Some(raw) if raw.get() != "{}" => {
                return Err(Fault::field(name, "is not supported by this server"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// An application described along with its message; it must be the one in the address.
fn application(
    fields: &mut Fields<'_>,
    app: &str,
    now: Time,
) -> Result<Option<Application>, Fault> {
    let Some(raw) = fields.raw("application") else {
        return Ok(None);
    };
    let wanted = WantedApplication::read(Fields::read(raw.get().as_bytes())?)?;
    let (kind, problem) = match &wanted.uid {
        Sent::Value(uid) if uid == app => return wanted.make(now).map(Some),
        Sent::Value(_) => ("application_uid_mismatch", "must be the one in the address"),
        Sent::Absent | Sent::Null => ("application_uid_missing", "is required"),
    };
    Err(Fault::Invalid {
        place: Place::Body,
        name: "application.uid".to_owned(),
        problem: problem.to_owned(),
        kind,
    })
}

/// The hot path: one read, one parse, one call to the store. The payload stays where it was received.
async fn create(State(api): Shared, At([app]): At<1>, asked: Asked) -> Answer {
    let now = api.clock.now();
    let with_content = asked.query.flag("with_content", true)?;
    let wanted = Wanted::read(asked.fields()?, &app, now)?;
    let id = MessageId::new(now);
    let reply = Reply::json(
        StatusCode::ACCEPTED,
        &MessageOut {
            id,
            event_id: wanted.event_id.as_deref(),
            event_type: &wanted.event_type,
            channels: some(&wanted.channels),
            payload: match with_content {
                true => Payload::Object(wanted.payload),
                false => Payload::Hidden,
            },
            timestamp: now,
        },
    )?;
    let draft = Draft {
        id,
        application: app,
        event_id: wanted.event_id,
        event_type: wanted.event_type,
        channels: wanted.channels,
        content_type: "application/json".to_owned(),
        payload: part_of(&asked.body, wanted.payload),
        headers: Vec::new(),
        seen: None,
        created_at: now,
        once: asked.once(&reply, now),
    };
    let recorded = record(&api, draft, wanted.application).await;
    count::received(&recorded);
    recorded.map(|()| reply)
}

fn part_of(body: &Bytes, payload: &RawValue) -> Bytes {
    body.slice_ref(payload.get().as_bytes())
}

async fn record(api: &Api, draft: Draft, application: Option<Application>) -> Result<(), Fault> {
    let Some(application) = application else {
        api.store.record(vec![draft]).await?;
        return Ok(());
    };
    match api.store.record(vec![draft.clone()]).await {
        Err(Error::NotFound(_)) => {}
        done => return done.map(|_| ()).map_err(Fault::from),
    }
    match api.store.create_application(application, None).await {
        // Somebody else made it in between; that is as good.
        Ok(()) | Err(Error::Conflict(_)) => {}
        Err(error) => return Err(error.into()),
    }
    api.store.record(vec![draft]).await?;
    Ok(())
}

/// Which messages are asked for.
pub(super) fn filter(query: &Query) -> Result<MessageFilter, Fault> {
    query.refuse("tag")?;
    let (before, after) = (query.time("before")?, query.time("after")?);
    if before
        .zip(after)
        .is_some_and(|(before, after)| before < after)
    {
        return Err(Fault::invalid(
            Place::Query,
            "before",
            "must not be earlier than after",
        ));
    }
    let event_types = query.list("event_types");
    if let Some(problem) = event_types.iter().find_map(|name| wire::name(name).err()) {
        return Err(Fault::invalid(Place::Query, "event_types", problem));
    }
    Ok(MessageFilter {
        before,
        after,
        channel: query.parsed("channel", "a channel", |text| {
            is_name(text).then(|| text.to_owned())
        })?,
        event_types: (!event_types.is_empty())
            .then(|| event_types.into_iter().map(str::to_owned).collect()),
    })
}

async fn list_all(State(api): Shared, At([app]): At<1>, query: Query) -> Answer {
    let with_content = query.flag("with_content", true)?;
    let filter = filter(&query)?;
    let page = page(&query, Order::Descending, |text| text.parse().ok())?;
    let application = api.store.application(&app).await?.id;
    let listing = api.store.messages(application, filter, page).await?;
    let data = listing
        .data
        .iter()
        .map(|message| MessageOut::of(message, with_content))
        .collect();
    list(&listing, |message| message.id.to_string(), data)
}

/// The message of that id or event id in the application of that id or uid.
pub(super) async fn find(api: &Api, app: &str, msg: &str) -> Result<Message, Fault> {
    let application = api.store.application(app).await?.id;
    Ok(api.store.message(application, msg).await?)
}

async fn show(State(api): Shared, At([app, msg]): At<2>, query: Query) -> Answer {
    let with_content = query.flag("with_content", true)?;
    Reply::ok(&MessageOut::of(
        &find(&api, &app, &msg).await?,
        with_content,
    ))
}

#[cfg(test)]
mod tests;
