//! Whether the server can work.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use serde_json::json;

use super::asked::Reply;
use super::{Answer, Api, Shared};

pub(super) fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/api/v1/health", get(health))
        .route("/api/v1/health/ping", get(async || Reply::nothing()))
}

/// The shape that Svix clients know; here the database is the queue, and there is no cache to fail.
async fn health(State(api): Shared) -> Answer {
    let (code, database) = match api.store.health().await {
        Ok(()) => (StatusCode::OK, "ok"),
        Err(error) => {
            tracing::warn!(%error, "the database is not healthy");
            (StatusCode::SERVICE_UNAVAILABLE, "error")
        }
    };
    let status = |status| json!({ "status": status });
    Reply::json(
        code,
        &json!({ "database": status(database), "queue": status(database), "cache": status("ok") }),
    )
}
