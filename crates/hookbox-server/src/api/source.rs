//! Sources: doors for providers.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use serde::Serialize;

use super::asked::{Asked, At, Reply};
use super::page::{Order, list, page};
use super::query::Query;
use super::wire::{Fields, is_name};
use super::{Answer, Api, Fault, Shared};
use crate::model::source::{NAME_RULE, Rules, is_source_name};
use crate::model::{Application, ApplicationId, EndpointId, Secret, Source, SourceId, Time};
use crate::store::{Error, Page, SourceDraft};

pub(super) fn routes() -> Router<Arc<Api>> {
    let one = get(show).put(put).delete(delete);
    Router::new()
        .route("/api/v1/source", get(list_all).post(create))
        .route("/api/v1/source/{source}", one)
}

/// A source as it is shown: of its secrets only how many there are.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SourceOut<'a> {
    name: &'a str,
    path: String,
    provider: &'a str,
    app_id: ApplicationId,
    secret_count: usize,
    rules: &'a Rules,
    forward: &'a [String],
    from_file: bool,
    created_at: Time,
    updated_at: Time,
}

impl<'a> SourceOut<'a> {
    fn of(source: &'a Source, forward: &'a [String]) -> Self {
        Self {
            name: &source.name,
            path: format!("/in/{}", source.name),
            provider: &source.provider,
            app_id: source.application_id,
            secret_count: source.secrets.len(),
            rules: &source.rules,
            forward,
            from_file: source.from_file,
            created_at: source.created_at,
            updated_at: source.updated_at,
        }
    }
}

/// The addresses that take a source's events, in their order.
async fn forward(api: &Api, source: &Source) -> Result<Vec<String>, Fault> {
    let mut page = Page::<EndpointId> {
        limit: 250,
        after: None,
        backwards: false,
        descending: false,
    };
    let mut found = Vec::new();
    loop {
        let listing = api
            .store
            .endpoints(source.application_id, page.clone())
            .await?;
        page.after = listing.data.last().map(|endpoint| endpoint.id);
        let own = listing
            .data
            .into_iter()
            .filter(|one| one.source == Some(source.id));
        found.extend(own.map(|endpoint| endpoint.url));
        if !listing.more {
            return Ok(found);
        }
    }
}

/// What a body says of a source.
struct Wanted {
    name: Option<String>,
    app: Option<String>,
    provider: String,
    secrets: Option<Vec<Secret>>,
    rules: Rules,
    forward: Option<Vec<String>>,
}

impl Wanted {
    fn read(mut fields: Fields<'_>) -> Result<Self, Fault> {
        let forward = fields.texts("forward")?;
        let forward = forward.checked("forward", |urls| {
            urls.iter().try_for_each(|url| own_url(url))
        })?;
        let secrets = fields.texts("secrets")?.value();
        let wanted = Self {
            name: fields
                .text("name")?
                .checked("name", |name| source_name(name))?
                .value(),
            app: fields.uid("app", ApplicationId::PREFIX)?.value(),
            provider: fields.text("provider")?.required("provider")?,
            secrets: secrets.map(|secrets| secrets.into_iter().map(Secret::new).collect()),
            rules: fields
                .take("rules", "an object of known rules")?
                .value()
                .unwrap_or_default(),
            forward: forward.value(),
        };
        fields.finish()?;
        Ok(wanted)
    }

    /// Fills in what a caller who sends a source again may leave out.
    fn keep(&mut self, known: Known) {
        self.app.get_or_insert(known.app);
        self.secrets.get_or_insert(known.secrets);
        self.forward.get_or_insert(known.forward);
    }

    fn draft(self, name: String) -> SourceDraft {
        SourceDraft {
            name,
            application_uid: self
                .app
                .unwrap_or_else(|| Application::DEFAULT_UID.to_owned()),
            provider: self.provider,
            secrets: self.secrets.unwrap_or_default(),
            rules: self.rules,
            forward: self.forward.unwrap_or_default(),
            from_file: false,
        }
    }
}

/// What a source has that is not in its own hands, or is not shown.
struct Known {
    app: String,
    secrets: Vec<Secret>,
    forward: Vec<String>,
}

async fn known(api: &Api, name: &str) -> Result<Option<Known>, Fault> {
    let source = match api.store.source(name).await {
        Ok(source) => source,
        Err(Error::NotFound(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let id = source.application_id.to_string();
    Ok(Some(Known {
        app: api.store.application(&id).await?.uid.unwrap_or(id),
        secrets: source.secrets.clone(),
        forward: forward(api, &source).await?,
    }))
}

fn source_name(name: &str) -> Result<(), String> {
    match is_source_name(name) {
        true => Ok(()),
        false => Err(NAME_RULE.to_owned()),
    }
}

/// The operator's own address may be anywhere; it must only be one.
fn own_url(text: &str) -> Result<(), String> {
    let url = url::Url::parse(text).ok();
    match url.is_some_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()) {
        true => Ok(()),
        false => Err("must be http or https addresses".to_owned()),
    }
}

fn check(api: &Api, draft: &SourceDraft) -> Result<(), Fault> {
    (api.check_source)(&draft.provider, &draft.secrets, &draft.rules)
        .map_err(|problem| Fault::field("provider", problem))
}

async fn create(State(api): Shared, asked: Asked) -> Answer {
    let now = api.clock.now();
    let mut wanted = Wanted::read(asked.fields()?)?;
    let name = wanted
        .name
        .take()
        .ok_or_else(|| Fault::field("name", "is required"))?;
    let draft = wanted.draft(name);
    check(&api, &draft)?;
    let made = preview(&api, &draft, now).await?;
    let reply = Reply::json(StatusCode::CREATED, &SourceOut::of(&made, &draft.forward))?;
    let once = asked.once(&reply, now);
    api.store.put_source(draft, false, now, once).await?;
    Ok(reply)
}

/// The source as the store will make it, so that the answer is known before.
async fn preview(api: &Api, draft: &SourceDraft, now: Time) -> Result<Source, Fault> {
    Ok(Source {
        // The store names it; the answer does not say how.
        id: SourceId([0; 16]),
        name: draft.name.clone(),
        application_id: application(api, &draft.application_uid, now).await?,
        provider: draft.provider.clone(),
        secrets: draft.secrets.clone(),
        rules: draft.rules.clone(),
        from_file: false,
        created_at: now,
        updated_at: now,
    })
}

/// The application of that uid, made when there is none.
async fn application(api: &Api, uid: &str, now: Time) -> Result<ApplicationId, Fault> {
    match api.store.application(uid).await {
        Ok(known) => return Ok(known.id),
        Err(Error::NotFound(_)) => {}
        Err(error) => return Err(error.into()),
    }
    let new = Application {
        id: ApplicationId::new(now),
        uid: Some(uid.to_owned()),
        name: uid.to_owned(),
        throttle_rate: None,
        metadata: Default::default(),
        created_at: now,
        updated_at: now,
    };
    let id = new.id;
    match api.store.create_application(new, None).await {
        Ok(()) => Ok(id),
        Err(Error::Conflict(_)) => Ok(api.store.application(uid).await?.id),
        Err(error) => Err(error.into()),
    }
}

async fn list_all(State(api): Shared, query: Query) -> Answer {
    let page = page(&query, Order::Ascending, |text| {
        is_name(text).then(|| text.to_owned())
    })?;
    let listing = api.store.sources(page).await?;
    let mut urls = Vec::new();
    for source in &listing.data {
        urls.push(forward(&api, source).await?);
    }
    let shown = listing.data.iter().zip(&urls);
    let data = shown
        .map(|(source, urls)| SourceOut::of(source, urls))
        .collect();
    list(&listing, |source| source.name.clone(), data)
}

async fn show(State(api): Shared, At([name]): At<1>) -> Answer {
    let source = api.store.source(&name).await?;
    Reply::ok(&SourceOut::of(&source, &forward(&api, &source).await?))
}

/// Replaces the source, or makes it. Its application, secrets and forward addresses are kept if not sent.
async fn put(State(api): Shared, At([name]): At<1>, asked: Asked) -> Answer {
    let now = api.clock.now();
    let mut wanted = Wanted::read(asked.fields()?)?;
    source_name(&name).map_err(|problem| Fault::field("name", problem))?;
    if wanted.name.as_ref().is_some_and(|sent| *sent != name) {
        return Err(Fault::field(
            "name",
            "must be the one in the address, or left out",
        ));
    }
    let code = match known(&api, &name).await? {
        Some(known) => {
            wanted.keep(known);
            StatusCode::OK
        }
        None => StatusCode::CREATED,
    };
    let draft = wanted.draft(name);
    check(&api, &draft)?;
    let urls = draft.forward.clone();
    let source = api.store.put_source(draft, true, now, None).await?;
    Reply::json(code, &SourceOut::of(&source, &urls))
}

async fn delete(State(api): Shared, At([name]): At<1>) -> Answer {
    let source = api.store.source(&name).await?;
    if source.from_file {
        let detail = "this source is written in the settings file; remove it there";
        return Err(Fault::Conflict("conflict", detail.into()));
    }
    api.store.delete_source(source.id, api.clock.now()).await?;
    Ok(Reply::nothing())
}
