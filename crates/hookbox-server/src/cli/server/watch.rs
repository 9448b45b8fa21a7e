//! What watches the server asks: whether it lives, whether it can work, and how it fares.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::http::header::{ACCEPT, ALLOW, AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, get};
use axum::{Json, Router};
use serde_json::json;
use subtle::ConstantTimeEq as _;

use super::figures::Figures;
use crate::api;
use crate::model::{Clock, Secret, Time};
use crate::store::{Handoff, QueueFigures, Store};
use crate::telemetry::metrics::{Form, Metrics, metrics, real};

/// How long the database may take to say that it works. Whoever asks often waits no longer than a second.
const PATIENCE: Duration = Duration::from_millis(800);

/// Answers for the server.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    store: Arc<dyn Store>,
    handoff: Handoff,
    ready: Arc<AtomicBool>,
    figures: Figures,
    /// The digest of what figures are shown for.
    token: Option<[u8; 32]>,
}

impl Watch {
    /// `ready` is false once the server stops. Without a token, figures are shown to everyone.
    pub(super) fn new(
        store: Arc<dyn Store>,
        handoff: Handoff,
        ready: Arc<AtomicBool>,
        token: Option<&Secret>,
    ) -> Self {
        Self {
            figures: Figures::new(Arc::clone(&store)),
            store,
            handoff,
            ready,
            token: token.map(|token| api::digest(token.expose())),
        }
    }

    pub(super) fn router(self) -> Router {
        Router::new()
            .route("/livez", only_get(get(|| async { "alive\n" })))
            .route("/readyz", only_get(get(ready)))
            .route("/metrics", only_get(get(show)))
            .route("/queue", only_get(get(queue)))
            .with_state(self)
    }

    /// Whether figures are shown for these headers.
    fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(wanted) = self.token else {
            return true;
        };
        let shown = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        shown
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .is_some_and(|(_, token)| api::digest(token.trim()).ct_eq(&wanted).into())
    }
}

/// Whether the server can work; if not, which part of it cannot.
async fn ready(State(watch): State<Watch>) -> Response {
    let open = watch.ready.load(Ordering::Relaxed);
    let database = match tokio::time::timeout(PATIENCE, watch.store.health()).await {
        Ok(Ok(())) => "ok",
        Ok(Err(error)) => {
            tracing::warn!(%error, "the database is not healthy");
            "error"
        }
        Err(_) => "slow",
    };
    if open && database == "ok" {
        return "ready\n".into_response();
    }
    let parts = json!({"server": if open { "ok" } else { "stopping" }, "database": database});
    let body = json!({"code": "unavailable", "detail": "Not ready.", "parts": parts});
    (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response()
}

async fn show(State(watch): State<Watch>, headers: HeaderMap) -> Response {
    if !watch.admits(&headers) {
        return unauthorized();
    }
    let figures = watch.figures.get().await;
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let form = Form::accepted(accept.unwrap_or_default());
    let text = metrics().text(form, |metrics| {
        metrics.node_slots.set(real(watch.handoff.held()));
        metrics.node_bytes.set(real(watch.handoff.held_bytes()));
        set_queue(metrics, figures, Clock.now());
    });
    ([(CONTENT_TYPE, form.content_type())], text).into_response()
}

fn set_queue(metrics: &Metrics, figures: Option<QueueFigures>, now: Time) {
    let Some(figures) = figures else {
        metrics.queue_depth.clear();
        metrics.queue_oldest_age.clear();
        metrics.dead_letters.clear();
        return;
    };
    let count = |count| real(usize::try_from(count).unwrap_or(usize::MAX));
    for (state, waiting) in [
        ("due", figures.due),
        ("leased", figures.leased),
        ("held", figures.held),
    ] {
        let age = waiting.age(now).as_secs_f64();
        metrics.queue_depth.set([state], count(waiting.count));
        metrics.queue_oldest_age.set([state], age);
    }
    metrics
        .queue_depth
        .set(["scheduled"], count(figures.scheduled));
    metrics.dead_letters.set([], count(figures.dead));
}

/// A few figures as JSON, for what starts and stops nodes.
async fn queue(State(watch): State<Watch>, headers: HeaderMap) -> Response {
    if !watch.admits(&headers) {
        return unauthorized();
    }
    let Some(figures) = watch.figures.get().await else {
        let detail = "The queue cannot be counted now.";
        return refusal(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail);
    };
    let age = figures.oldest_due_age(Clock.now()).as_secs_f64();
    Json(json!({
        "oldest_due_age_seconds": age,
        "due": figures.due.count,
        "leased": figures.leased.count,
        "held": figures.held.count,
    }))
    .into_response()
}

fn unauthorized() -> Response {
    let detail = "Show HOOKBOX_METRICS_TOKEN as a bearer token.";
    let answer = refusal(StatusCode::UNAUTHORIZED, "authentication_failed", detail);
    ([(WWW_AUTHENTICATE, "Bearer")], answer).into_response()
}

/// Says no to other methods as the API does.
fn only_get(route: MethodRouter<Watch>) -> MethodRouter<Watch> {
    route.fallback(|| async {
        let detail = "This address does not know that method; see the Allow header.";
        let answer = refusal(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail);
        ([(ALLOW, "GET, HEAD")], answer)
    })
}

/// The answer of a node that has no API.
pub(super) async fn not_here() -> Response {
    let detail = "This node does not have that; another node of the same database may.";
    refusal(StatusCode::NOT_FOUND, "not_found", detail)
}

/// A refusal in the API's form.
fn refusal(status: StatusCode, code: &str, detail: &str) -> Response {
    (status, Json(json!({"code": code, "detail": detail}))).into_response()
}
