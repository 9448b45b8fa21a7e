//! Endpoints.

mod wanted;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use serde::Serialize;

use self::wanted::{Wanted, disable};
use super::application::new_uid;
use super::asked::{Asked, At, Reply};
use super::page::{Order, list, page};
use super::query::Query;
use super::wire::Sent;
use super::{Answer, Api, Fault, Shared, header, secret};
use crate::model::application::Metadata;
use crate::model::endpoint::{Disabled, SigningSecret};
use crate::model::{Endpoint, EndpointId, Schedule, Secret, Time};
use crate::store::Error;

pub(super) fn routes() -> Router<Arc<Api>> {
    let one = get(show).put(put).patch(patch).delete(delete);
    Router::new()
        .route("/api/v1/app/{app}/endpoint", get(list_all).post(create))
        .route("/api/v1/app/{app}/endpoint/{endpoint}", one)
}

/// An endpoint as it is shown. Old SDKs read `filterTypes`, `rateLimit` and `version`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EndpointOut<'a> {
    id: EndpointId,
    uid: Option<&'a str>,
    url: &'a str,
    description: &'a str,
    version: u16,
    disabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    disabled_reason: Option<&'static str>,
    event_types: Option<&'a [String]>,
    filter_types: Option<&'a [String]>,
    channels: Option<&'a [String]>,
    throttle_rate: Option<u16>,
    rate_limit: Option<u16>,
    retry_schedule: Option<String>,
    metadata: &'a Metadata,
    trusted: bool,
    created_at: Time,
    updated_at: Time,
}

impl<'a> EndpointOut<'a> {
    /// Shows an endpoint.
    pub(super) fn of(endpoint: &'a Endpoint) -> Self {
        Self {
            id: endpoint.id,
            uid: endpoint.uid.as_deref(),
            url: &endpoint.url,
            description: &endpoint.description,
            version: 1,
            disabled: endpoint.disabled.is_some(),
            disabled_reason: endpoint.disabled.map(Disabled::code),
            event_types: endpoint.event_types.as_deref(),
            filter_types: endpoint.event_types.as_deref(),
            channels: endpoint.channels.as_deref(),
            throttle_rate: endpoint.throttle_rate,
            rate_limit: endpoint.throttle_rate,
            retry_schedule: endpoint.retry_schedule.as_ref().map(Schedule::to_string),
            metadata: &endpoint.metadata,
            trusted: endpoint.trusted,
            created_at: endpoint.created_at,
            updated_at: endpoint.updated_at,
        }
    }
}

/// An endpoint that the operator wrote as a source's `forward` address is changed where it is written.
pub(super) fn editable(endpoint: &Endpoint) -> Result<(), Error> {
    match endpoint.trusted {
        true => Err(Error::Conflict(
            "this endpoint is a forward address of its source; change the source instead",
        )),
        false => Ok(()),
    }
}

/// The endpoint of that id or uid in the application of that id or uid.
pub(super) async fn find(api: &Api, app: &str, endpoint: &str) -> Result<Endpoint, Fault> {
    let application = api.store.application(app).await?.id;
    Ok(api.store.endpoint(application, endpoint).await?)
}

async fn create(State(api): Shared, At([app]): At<1>, asked: Asked) -> Answer {
    let now = api.clock.now();
    let mut fields = asked.fields()?;
    let wanted = Wanted::take(&api, &mut fields)?;
    let (key, headers) = (
        secret::sent(&mut fields, "secret")?,
        header::sent(&mut fields)?,
    );
    fields.finish()?;
    let application = api.store.application(&app).await?.id;
    let mut new = wanted.make(application, now)?;
    if let Some(key) = key {
        new.secrets = vec![SigningSecret {
            key,
            expires_at: None,
        }];
    }
    let headers = headers.into_iter();
    new.headers = headers
        .map(|(name, value)| (name, Secret::new(value)))
        .collect();
    let reply = Reply::json(StatusCode::CREATED, &EndpointOut::of(&new))?;
    let once = asked.once(&reply, now);
    api.store.create_endpoint(new, once).await?;
    Ok(reply)
}

async fn list_all(State(api): Shared, At([app]): At<1>, query: Query) -> Answer {
    let page = page(&query, Order::Descending, |text| text.parse().ok())?;
    let application = api.store.application(&app).await?.id;
    let listing = api.store.endpoints(application, page).await?;
    let data = listing.data.iter().map(EndpointOut::of).collect();
    list(&listing, |endpoint| endpoint.id.to_string(), data)
}

async fn show(State(api): Shared, At([app, endpoint]): At<2>) -> Answer {
    Reply::ok(&EndpointOut::of(&find(&api, &app, &endpoint).await?))
}

/// Replaces the endpoint, or makes the one of that uid. Secrets, headers, and a uid that is not sent are kept.
async fn put(State(api): Shared, At([app, endpoint]): At<2>, asked: Asked) -> Answer {
    let now = api.clock.now();
    let mut wanted = Wanted::read(&api, asked.fields()?)?;
    let uid = std::mem::replace(&mut wanted.uid, Sent::Absent);
    let application = api.store.application(&app).await?.id;
    let new = wanted.make(application, now)?;
    match api.store.endpoint(application, &endpoint).await {
        Ok(known) => {
            let change = Box::new(move |kept: &mut Endpoint| {
                editable(kept)?;
                replace(kept, new.clone(), uid.clone());
                Ok(())
            });
            let endpoint = api
                .store
                .change_endpoint(known.id, now, change, None)
                .await?;
            Reply::ok(&EndpointOut::of(&endpoint))
        }
        Err(Error::NotFound(_)) => {
            let uid = Some(new_uid(endpoint, uid, EndpointId::PREFIX)?);
            let new = Endpoint { uid, ..new };
            let reply = Reply::json(StatusCode::CREATED, &EndpointOut::of(&new))?;
            api.store.create_endpoint(new, None).await?;
            Ok(reply)
        }
        Err(error) => Err(error.into()),
    }
}

fn replace(kept: &mut Endpoint, new: Endpoint, uid: Sent<String>) {
    uid.write_to(&mut kept.uid);
    disable(kept, new.disabled.is_some());
    kept.url = new.url;
    kept.description = new.description;
    kept.throttle_rate = new.throttle_rate;
    kept.event_types = new.event_types;
    kept.channels = new.channels;
    kept.metadata = new.metadata;
    kept.retry_schedule = new.retry_schedule;
    kept.updated_at = new.updated_at;
}

async fn patch(State(api): Shared, At([app, endpoint]): At<2>, asked: Asked) -> Answer {
    let now = api.clock.now();
    let fields = asked.fields()?;
    let alone = fields.is_only("disabled");
    let wanted = Wanted::read(&api, fields)?;
    // An own app that once answered 410 must find a way back without an edit of its source.
    let enables = alone && wanted.disabled == Sent::Value(false);
    let id = find(&api, &app, &endpoint).await?.id;
    let change = Box::new(move |endpoint: &mut Endpoint| {
        if !enables {
            editable(endpoint)?;
        }
        wanted.clone().patch(endpoint, now);
        Ok(())
    });
    Reply::ok(&EndpointOut::of(
        &api.store.change_endpoint(id, now, change, None).await?,
    ))
}

async fn delete(State(api): Shared, At([app, endpoint]): At<2>) -> Answer {
    let endpoint = find(&api, &app, &endpoint).await?;
    editable(&endpoint)?;
    api.store
        .delete_endpoint(endpoint.id, api.clock.now())
        .await?;
    Ok(Reply::nothing())
}
