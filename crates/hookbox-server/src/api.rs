//! The API under `/api/v1`: what the Svix SDKs call, and Hookbox's own resources in the same style.
//!
//! A request is read once ([`asked`]), its caller known first ([`auth`]), its fields taken one by one
//! ([`wire`]); whatever cannot be done becomes a [`Fault`], and only [`error`] knows how that is answered.

mod application;
mod asked;
mod attempt;
mod auth;
mod count;
mod dead;
mod delivery;
mod endpoint;
mod error;
mod event_type;
mod header;
mod health;
mod message;
mod once;
mod page;
mod query;
mod receipt;
mod secret;
mod source;
mod token;
mod wire;

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::Uri;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use tower_service::Service as _;

use self::asked::Reply;
use self::error::Fault;
use crate::model::source::Rules;
use crate::model::{Clock, Secret};
use crate::store::Store;

pub use self::auth::digest;
pub use self::token::new_token;

/// Judges the address of a stranger's endpoint: its normalized form, or what is wrong with it in a sentence
/// that tells a stranger nothing about the network.
pub type UrlCheck = Arc<dyn Fn(&str) -> Result<String, String> + Send + Sync>;

/// Whether a provider of that name can verify with these secrets and rules; if not, why, without the secrets.
pub type SourceCheck = Arc<dyn Fn(&str, &[Secret], &Rules) -> Result<(), String> + Send + Sync>;

/// What the API works with.
#[derive(Clone)]
pub struct Api {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// Tells the time.
    pub clock: Clock,
    /// The [`digest`] of the operator's own token, if there is one.
    pub admin: Option<[u8; 32]>,
    /// Judges the addresses of endpoints.
    pub check_url: UrlCheck,
    /// Judges sources.
    pub check_source: SourceCheck,
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

type Shared = State<Arc<Api>>;
type Answer = Result<Reply, Fault>;

/// Every route of the API. It answers every other address too, with 404, so it can be the last resort of a
/// larger router; extra slashes before and after the path make no difference.
pub fn router(api: Api) -> Router {
    let api = Arc::new(api);
    let known_callers = from_fn_with_state(Arc::clone(&api), auth::require);
    let routes = Router::new()
        .merge(application::routes())
        .merge(attempt::routes())
        .merge(dead::routes())
        .merge(delivery::routes())
        .merge(endpoint::routes())
        .merge(event_type::routes())
        .merge(header::routes())
        .merge(message::routes())
        .merge(receipt::routes())
        .merge(secret::routes())
        .merge(source::routes())
        .merge(token::routes())
        .route_layer(known_callers)
        .merge(health::routes())
        .fallback(|| async { Fault::NoRoute })
        .method_not_allowed_fallback(|| async { Fault::NoMethod })
        .with_state(api);
    // A router chooses its route before its own layers run, so the path is tidied outside of it.
    Router::new().fallback(tidy).with_state(routes)
}

async fn tidy(State(mut routes): State<Router>, mut request: Request) -> Response {
    if let Some(uri) = tidied(request.uri()) {
        *request.uri_mut() = uri;
    }
    match routes.call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// The address without extra slashes, if it has any. Old SDKs send `//api/v1/app/`.
fn tidied(uri: &Uri) -> Option<Uri> {
    let path = uri.path();
    if path == "/" || !(path.starts_with("//") || path.ends_with('/')) {
        return None;
    }
    let path = path.trim_matches('/');
    let query = uri
        .query()
        .map_or(String::new(), |query| format!("?{query}"));
    format!("/{path}{query}").parse().ok()
}

#[cfg(test)]
mod tests;
