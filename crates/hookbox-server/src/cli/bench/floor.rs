//! `hookbox bench floor`: takes what a server takes, keeps nothing, and forwards at once.
//!
//! What it can do on a machine, no server can exceed there that does the same and keeps it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, post};
use axum::{Json, Router};
use bytes::Bytes;
use clap::Args;
use hookbox::Secret;
use http::{HeaderValue, Method, Request, Uri, header};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::target::{Target, on_this_machine};
use crate::cli::error::Error;
use crate::cli::out::Out;
use crate::listen;
use crate::model::Clock;

/// What a floor says once it can be reached, before its address.
pub(super) const LISTENING: &str = "the floor is listening on ";

#[derive(Args, Debug)]
pub(in crate::cli) struct Floor {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9800")]
    listen: SocketAddr,
    /// Where events of `/in/…` go; may be given several times. Without it they are only answered
    #[arg(long, value_name = "URL")]
    forward: Vec<String>,
    /// Allow addresses that are not on this machine
    #[arg(long)]
    anywhere: bool,
}

pub(super) async fn run(out: &mut Out, floor: Floor) -> Result<(), Error> {
    on_this_machine(floor.listen, floor.anywhere)?;
    let memory = Memory::new(floor.anywhere);
    for url in &floor.forward {
        let endpoint = memory.endpoint(url).await?;
        memory.add(INBOX, endpoint);
    }
    let failed = |error: std::io::Error| {
        Error::Failed(format!("cannot listen on {}: {error}", floor.listen))
    };
    let listener = TcpListener::bind(floor.listen).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    out.line(&format!("{LISTENING}http://{address}"));
    let never = CancellationToken::new();
    listen::serve(listener, router(memory), never, std::time::Duration::ZERO).await;
    Ok(())
}

/// The application of what is received; no application that is made has this name.
const INBOX: &str = "";

fn router(memory: Arc<Memory>) -> Router {
    let api = [
        ("/api/v1/app", post(create_app)),
        ("/api/v1/app/{app}", delete(delete_app)),
        ("/api/v1/app/{app}/endpoint", post(create_endpoint)),
        ("/api/v1/app/{app}/msg", post(create_message)),
        ("/in/{source}", post(receive)),
    ];
    let mut router = Router::new();
    for (path, route) in api {
        // Other clients of the API end their paths with a slash, and a server takes both.
        router = router.route(&format!("{path}/"), route.clone());
        router = router.route(path, route);
    }
    router.with_state(memory)
}

/// All that a floor knows.
struct Memory {
    anywhere: bool,
    client: Client<HttpConnector, Full<Bytes>>,
    numbers: AtomicU64,
    endpoints: RwLock<HashMap<String, Vec<Arc<Endpoint>>>>,
}

struct Endpoint {
    uri: Uri,
    secret: Secret,
}

#[derive(Deserialize)]
struct NewEndpoint {
    url: String,
}

async fn create_app(State(memory): State<Arc<Memory>>) -> Response {
    let id = memory.id("app");
    (StatusCode::CREATED, Json(json!({"id": id}))).into_response()
}

async fn delete_app(State(memory): State<Arc<Memory>>, Path(app): Path<String>) -> StatusCode {
    memory.forget(&app);
    StatusCode::NO_CONTENT
}

async fn create_endpoint(
    State(memory): State<Arc<Memory>>,
    Path(app): Path<String>,
    Json(new): Json<NewEndpoint>,
) -> Response {
    match memory.endpoint(&new.url).await {
        Ok(endpoint) => {
            memory.add(&app, endpoint);
            let id = memory.id("ep");
            (StatusCode::CREATED, Json(json!({"id": id}))).into_response()
        }
        Err(error) => {
            let detail = error.to_string();
            let refusal: Value = json!({"code": "invalid", "detail": detail});
            (StatusCode::UNPROCESSABLE_ENTITY, Json(refusal)).into_response()
        }
    }
}

async fn create_message(
    State(memory): State<Arc<Memory>>,
    Path(app): Path<String>,
    body: Bytes,
) -> Response {
    let id = memory.forward(&app, &body);
    (StatusCode::ACCEPTED, Json(json!({"id": id}))).into_response()
}

async fn receive(State(memory): State<Arc<Memory>>, body: Bytes) -> Response {
    let id = memory.forward(INBOX, &body);
    Json(json!({"id": id})).into_response()
}

impl Memory {
    fn new(anywhere: bool) -> Arc<Self> {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Arc::new(Self {
            anywhere,
            client: Client::builder(TokioExecutor::new()).build(connector),
            numbers: AtomicU64::new(0),
            endpoints: RwLock::default(),
        })
    }

    fn id(&self, kind: &str) -> String {
        format!("{kind}_{:032x}", self.numbers.fetch_add(1, Relaxed))
    }

    async fn endpoint(&self, url: &str) -> Result<Endpoint, Error> {
        Target::find(url, self.anywhere).await?;
        let secret = Secret::symmetric(&rand::random::<[u8; 24]>());
        Ok(Endpoint {
            uri: url
                .parse()
                .map_err(|_| Error::Usage(format!("'{url}' cannot be asked for")))?,
            secret: secret.map_err(|error| Error::Failed(error.to_string()))?,
        })
    }

    fn add(&self, app: &str, endpoint: Endpoint) {
        let mut endpoints = self
            .endpoints
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let of_app = endpoints.entry(app.to_owned()).or_default();
        of_app.push(Arc::new(endpoint));
    }

    fn forget(&self, app: &str) {
        let mut endpoints = self
            .endpoints
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        endpoints.remove(app);
    }

    /// Sends a body on to every endpoint, without waiting for any; returns its new id.
    fn forward(&self, app: &str, body: &Bytes) -> String {
        let id = self.id("msg");
        let endpoints = self
            .endpoints
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        for endpoint in endpoints.get(app).into_iter().flatten() {
            let Some(request) = endpoint.request(&id, body) else {
                continue;
            };
            let answer = self.client.request(request);
            tokio::spawn(async move {
                // Read to its end, so that the connection is used again. A floor tries once.
                if let Ok(answer) = answer.await {
                    let _ = answer.into_body().collect().await;
                }
            });
        }
        id
    }
}

impl Endpoint {
    /// The request of a delivery, signed as a server signs it.
    fn request(&self, id: &str, body: &Bytes) -> Option<Request<Full<Bytes>>> {
        let now = Clock.now().unix_seconds();
        let signature = self.secret.sign(id, now, body);
        Request::builder()
            .method(Method::POST)
            .uri(self.uri.clone())
            .header(
                header::CONTENT_TYPE,
                HeaderValue::from_static("application/json"),
            )
            .header("webhook-id", id)
            .header("webhook-timestamp", now)
            .header("webhook-signature", signature)
            .body(Full::new(body.clone()))
            .ok()
    }
}
