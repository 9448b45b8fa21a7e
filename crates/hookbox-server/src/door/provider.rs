//! `/in/{source}`: where providers send their webhooks.
//!
//! Read within bounds, verify, record, answer. Nothing is parsed or written before the signature held, and
//! no success is answered before the record is durable.

mod answer;
mod body;
mod count;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use axum::routing::any;
use bytes::Bytes;
use hookbox::{Event, Options, Provider, Verifier};

use self::answer::Refused;
use crate::model::{Clock, MessageId, Secret, Source, SourceId};
use crate::store::{Draft, Error, Recorded, Seen, Store};

/// How long a request may take to arrive whole.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a provider's header must not be for it to be passed on: between two hops only, about the transport
/// of this request, or written by something in between.
const NOT_PASSED_ON: [&str; 22] = [
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
];

/// The doors of all sources.
#[derive(Clone, Debug)]
pub struct Door {
    store: Arc<dyn Store>,
    clock: Clock,
    verifiers: Arc<Mutex<HashMap<SourceId, Prepared>>>,
}

/// A verifier, and the state of the source that it was made from.
#[derive(Clone, Debug)]
struct Prepared {
    source: Arc<Source>,
    verifier: Arc<Verifier>,
}

/// The routes of all sources. A trailing slash makes no difference.
pub fn router(store: Arc<dyn Store>) -> Router {
    let door = Door {
        store,
        clock: Clock,
        verifiers: Arc::default(),
    };
    Router::new()
        .route("/in/{*source}", any(receive))
        .with_state(door)
}

async fn receive(State(door): State<Door>, Path(name): Path<String>, request: Request) -> Response {
    let began = Instant::now();
    let name = name.trim_end_matches('/');
    let source = door.store.source(name).await.ok();
    let result = door.take(source.as_ref(), request).await;
    count::received(source.as_deref(), &result, began);
    match result {
        Ok(recorded) => answer::accepted(recorded),
        Err(refused) => {
            tracing::info!(source = %name.escape_debug(), code = refused.code(), "refused");
            refused.into()
        }
    }
}

impl Door {
    async fn take(
        &self,
        source: Option<&Arc<Source>>,
        request: Request,
    ) -> Result<Recorded, Refused> {
        let source = source.ok_or(Refused::UnknownSource)?;
        if request.method() != Method::POST {
            return Err(Refused::Method);
        }
        let Prepared { source, verifier } = self.prepare(source)?;
        let (parts, stream) = request.into_parts();
        let body = body::read(
            &parts.headers,
            stream,
            body_cap(&source, &verifier),
            PATIENCE,
        )
        .await?;
        let now = self.clock.now();
        let event = verifier.verify(&parts.headers, &body, now.unix_seconds())?;
        let draft = draft(&source, &event, &parts, body, now);
        let recorded = self
            .store
            .record(vec![draft])
            .await
            .map_err(|error| not_recorded(&error))?;
        let recorded = recorded.first().copied().ok_or(Refused::NotRecorded)?;
        if let Recorded::Quarantined(message) = recorded {
            tracing::warn!(source = %source.name, %message, "other bytes came under an event id seen before; kept, delivered to nobody");
        }
        Ok(recorded)
    }

    /// The verifier of a source, made anew when the source changed.
    fn prepare(&self, source: &Arc<Source>) -> Result<Prepared, Refused> {
        let mut verifiers = self
            .verifiers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = verifiers.get(&source.id)
            && Arc::ptr_eq(&known.source, source)
        {
            return Ok(known.clone());
        }
        let verifier = verifier(source).map_err(|problem| {
            tracing::error!(source = %source.name, problem, "this source cannot verify anything; change it");
            Refused::CannotVerify
        })?;
        let prepared = Prepared {
            source: Arc::clone(source),
            verifier: Arc::new(verifier),
        };
        verifiers.insert(source.id, prepared.clone());
        Ok(prepared)
    }
}

/// Makes the verifier of a source.
///
/// # Errors
/// What is wrong with its provider, secrets or rules.
pub fn verifier(source: &Source) -> Result<Verifier, String> {
    check(&source.provider, &source.secrets, &source.rules)
}

/// Whether a provider can verify with these secrets and rules: what a source is checked for when it is made.
///
/// # Errors
/// What is wrong, in a sentence.
pub fn check(
    provider: &str,
    secrets: &[Secret],
    rules: &crate::model::source::Rules,
) -> Result<Verifier, String> {
    let known = || {
        Provider::all()
            .iter()
            .map(Provider::name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let provider = Provider::by_name(provider)
        .ok_or_else(|| format!("there is no such provider; known are {}", known()))?;
    let secrets: Vec<String> = secrets
        .iter()
        .map(|secret| secret.expose().to_owned())
        .collect();
    let options = Options {
        tolerance_seconds: rules.tolerance_seconds,
        allow_sha1: rules.allow_sha1,
    };
    provider
        .verifier(&secrets, &options)
        .map_err(|error| error.to_string())
}

fn body_cap(source: &Source, verifier: &Verifier) -> usize {
    let own = source
        .rules
        .max_body_bytes
        .and_then(|bytes| usize::try_from(bytes).ok());
    own.unwrap_or_else(|| verifier.provider().max_body_bytes())
}

fn draft(
    source: &Source,
    event: &Event,
    parts: &Parts,
    body: Bytes,
    now: crate::model::Time,
) -> Draft {
    let content_type = parts
        .headers
        .get("content-type")
        .and_then(|value| value.to_str().ok());
    Draft {
        id: MessageId::new(now),
        application: source.application_id.to_string(),
        event_id: None,
        event_type: event.event_type.clone(),
        channels: Vec::new(),
        content_type: content_type
            .unwrap_or("application/octet-stream")
            .to_owned(),
        payload: body,
        headers: passed_on(source, &parts.headers),
        seen: Some(Seen {
            source_id: source.id,
            event_id: event.id.clone(),
            digest: event.body_sha256,
        }),
        created_at: now,
        once: None,
    }
}

fn passed_on(source: &Source, headers: &HeaderMap) -> Vec<(String, Vec<u8>)> {
    let own = headers.iter().filter(|(name, _)| {
        !NOT_PASSED_ON.contains(&name.as_str()) && !name.as_str().starts_with("hookbox-")
    });
    let mut kept: Vec<_> = own
        .map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()))
        .collect();
    kept.push((
        "hookbox-source".to_owned(),
        source.name.clone().into_bytes(),
    ));
    kept
}

fn not_recorded(error: &Error) -> Refused {
    tracing::error!(%error, "an event was not recorded");
    Refused::NotRecorded
}
