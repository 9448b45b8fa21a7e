//! Applications.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use serde::Serialize;

use super::asked::{Asked, At, Reply};
use super::page::{Order, list, page};
use super::query::Query;
use super::wire::{Fields, Sent, not_empty};
use super::{Answer, Api, Fault, Shared};
use crate::model::application::Metadata;
use crate::model::{Application, ApplicationId, Time};
use crate::store::Error;

pub(super) fn routes() -> Router<Arc<Api>> {
    let one = get(show).put(put).patch(patch).delete(delete);
    Router::new()
        .route("/api/v1/app", get(list_all).post(create))
        .route("/api/v1/app/{app}", one)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApplicationOut<'a> {
    id: ApplicationId,
    uid: Option<&'a str>,
    name: &'a str,
    throttle_rate: Option<u16>,
    rate_limit: Option<u16>,
    metadata: &'a Metadata,
    created_at: Time,
    updated_at: Time,
}

impl<'a> ApplicationOut<'a> {
    fn of(application: &'a Application) -> Self {
        Self {
            id: application.id,
            uid: application.uid.as_deref(),
            name: &application.name,
            throttle_rate: application.throttle_rate,
            rate_limit: application.throttle_rate,
            metadata: &application.metadata,
            created_at: application.created_at,
            updated_at: application.updated_at,
        }
    }
}

/// What a body says of an application.
#[derive(Clone)]
pub(super) struct Wanted {
    name: Sent<String>,
    /// The name that its user gives it.
    pub(super) uid: Sent<String>,
    throttle_rate: Sent<u16>,
    metadata: Sent<Metadata>,
}

impl Wanted {
    /// Reads a body.
    pub(super) fn read(mut fields: Fields<'_>) -> Result<Self, Fault> {
        let wanted = Self {
            name: fields
                .text("name")?
                .checked("name", |name| not_empty(name))?,
            uid: fields.uid("uid", ApplicationId::PREFIX)?,
            throttle_rate: fields.throttle_rate()?,
            metadata: fields.metadata()?,
        };
        fields.finish()?;
        Ok(wanted)
    }

    /// The application that it describes.
    pub(super) fn make(self, now: Time) -> Result<Application, Fault> {
        Ok(Application {
            id: ApplicationId::new(now),
            uid: self.uid.value(),
            name: self.name.required("name")?,
            throttle_rate: self.throttle_rate.value(),
            metadata: self.metadata.value().unwrap_or_default(),
            created_at: now,
            updated_at: now,
        })
    }

    /// Changes what was sent.
    fn patch(self, application: &mut Application, now: Time) {
        self.name.replace(&mut application.name);
        self.uid.write_to(&mut application.uid);
        self.throttle_rate.write_to(&mut application.throttle_rate);
        self.metadata.replace(&mut application.metadata);
        application.updated_at = now;
    }
}

async fn create(State(api): Shared, asked: Asked) -> Answer {
    let get_if_exists = asked.query.flag("get_if_exists", false)?;
    let new = Wanted::read(asked.fields()?)?.make(api.clock.now())?;
    let uid = new.uid.clone().filter(|_| get_if_exists);
    let reply = Reply::json(StatusCode::CREATED, &ApplicationOut::of(&new))?;
    let once = asked.once(&reply, new.created_at);
    match (api.store.create_application(new, once).await, uid) {
        (Ok(()), _) => Ok(reply),
        (Err(Error::Conflict(_)), Some(uid)) => {
            Reply::ok(&ApplicationOut::of(&api.store.application(&uid).await?))
        }
        (Err(error), _) => Err(error.into()),
    }
}

async fn list_all(State(api): Shared, query: Query) -> Answer {
    let page = page(&query, Order::Ascending, |text| text.parse().ok())?;
    let listing = api.store.applications(page).await?;
    let data = listing.data.iter().map(ApplicationOut::of).collect();
    list(&listing, |application| application.id.to_string(), data)
}

async fn show(State(api): Shared, At([app]): At<1>) -> Answer {
    Reply::ok(&ApplicationOut::of(&api.store.application(&app).await?))
}

/// Replaces the application, or makes the one of that uid. A uid that is not sent is kept: without it the
/// same call would not find its application again.
async fn put(State(api): Shared, At([app]): At<1>, asked: Asked) -> Answer {
    let now = api.clock.now();
    let mut new = Wanted::read(asked.fields()?)?;
    let uid = std::mem::replace(&mut new.uid, Sent::Absent);
    let (new, kept_uid) = (new.make(now)?, uid.clone());
    let replacement = new.clone();
    let change = Box::new(move |application: &mut Application| {
        let replacement = replacement.clone();
        kept_uid.clone().write_to(&mut application.uid);
        application.name = replacement.name;
        application.throttle_rate = replacement.throttle_rate;
        application.metadata = replacement.metadata;
        application.updated_at = now;
        Ok(())
    });
    match api.store.change_application(&app, change).await {
        Ok(application) => Reply::ok(&ApplicationOut::of(&application)),
        Err(Error::NotFound(_)) => {
            let uid = Some(new_uid(app, uid, ApplicationId::PREFIX)?);
            let new = Application { uid, ..new };
            let reply = Reply::json(StatusCode::CREATED, &ApplicationOut::of(&new))?;
            api.store.create_application(new, None).await?;
            Ok(reply)
        }
        Err(error) => Err(error.into()),
    }
}

/// The uid of what a PUT makes: the one in its address, so that it is found there again.
pub(super) fn new_uid(address: String, sent: Sent<String>, prefix: &str) -> Result<String, Fault> {
    if super::wire::uid(&address, prefix).is_err() {
        return Err(Fault::NotFound);
    }
    match sent.value() {
        Some(uid) if uid != address => Err(Fault::field(
            "uid",
            "must be the one in the address, or left out",
        )),
        _ => Ok(address),
    }
}

async fn patch(State(api): Shared, At([app]): At<1>, asked: Asked) -> Answer {
    let (now, wanted) = (api.clock.now(), Wanted::read(asked.fields()?)?);
    let change = Box::new(move |application: &mut Application| {
        wanted.clone().patch(application, now);
        Ok(())
    });
    Reply::ok(&ApplicationOut::of(
        &api.store.change_application(&app, change).await?,
    ))
}

async fn delete(State(api): Shared, At([app]): At<1>) -> Answer {
    let id = api.store.application(&app).await?.id;
    api.store.delete_application(id, api.clock.now()).await?;
    Ok(Reply::nothing())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_put_makes_what_its_address_says() {
        let made = |sent| new_uid("mine".to_owned(), sent, "app_");
        assert_eq!(made(Sent::Absent), Ok("mine".to_owned()));
        assert_eq!(made(Sent::Value("mine".to_owned())), Ok("mine".to_owned()));
        assert!(made(Sent::Value("other".to_owned())).is_err());
        let id = new_uid("app_0".to_owned(), Sent::Absent, "app_");
        assert_eq!(id, Err(Fault::NotFound));
    }
}
