//! A whole server in this process: everything put together, started, and stopped in order.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use axum::http::StatusCode;
use axum::http::header::ALLOW;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, get};
use axum::{Json, Router};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::api::{self, Api};
use crate::door;
use crate::egress::{self, Client, Policy, Resolver};
use crate::engine::{Clients, Engine};
use crate::listen;
use crate::model::{Clock, Secret, TokenId};
use crate::settings::{SLOTS, Settings};
use crate::store::seal::Sealer;
use crate::store::sqlite::{Migrate, SqliteStore};
use crate::store::{Handoff, Page, Store, Token, handoff};

/// How long what is under way may take to end after a stop. A try takes 15 s at most; what is left of the 25 s that a
/// stop may take in all is for closing the database.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes of their payloads.
const BYTES: usize = 64 * 1024 * 1024;
/// For each try in flight to an endpoint, this many deliveries are held next in line.
const IN_LINE: usize = 4;

/// A running server.
#[derive(Debug)]
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    /// A token with every right, if this start made one.
    pub new_token: Option<Secret>,
    engine: Engine,
    stop: CancellationToken,
    ready: Arc<AtomicBool>,
    listening: JoinHandle<()>,
}

impl Server {
    /// Opens the database, starts the engine, and listens.
    ///
    /// # Errors
    /// What is in the way, and what to do about it.
    pub async fn start(settings: &Settings, migrate: Migrate) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(settings.listen).await.with_context(|| {
            format!(
                "cannot listen on {}; set HOOKBOX_LISTEN to another address",
                settings.listen
            )
        })?;
        let key = match settings.secret_key {
            Some(key) => key,
            None => key_file(&settings.database)?,
        };
        let (handoff, work) = Handoff::new(handoff::Limits {
            slots: SLOTS,
            bytes: BYTES,
            application: settings.application_concurrency,
            in_flight: settings.endpoint_concurrency,
            lane: settings.endpoint_concurrency * IN_LINE,
        });
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(
            &settings.database,
            Sealer::new(key),
            handoff.clone(),
            migrate,
        )?);
        apply_sources(&*store, settings).await?;
        let new_token = first_token(&*store, settings).await?;
        let stranger = Policy::Stranger {
            allow: settings.egress_allow.clone(),
            allow_http: settings.allow_http,
        };
        let resolver = Resolver::system();
        let clients = Clients {
            trusted: Client::new(Policy::Trusted, resolver.clone()),
            stranger: Client::new(stranger.clone(), resolver),
        };
        let engine = Engine::start(
            Arc::clone(&store),
            handoff,
            work,
            clients,
            settings.retry_schedule.clone(),
        );
        let ready = Arc::new(AtomicBool::new(true));
        let app = router(store, settings, stranger, Arc::clone(&ready));
        let address = listener.local_addr()?;
        let stop = CancellationToken::new();
        let listening = tokio::spawn(listen::serve(listener, app, stop.clone(), PATIENCE));
        Ok(Self {
            address,
            new_token,
            engine,
            stop,
            ready,
            listening,
        })
    }

    /// Stops in order: takes no request, begins no try, lets what is under way end. Returns whether all ended.
    pub async fn stop(self) -> bool {
        self.ready.store(false, Ordering::Relaxed);
        self.stop.cancel();
        let (ended, listening) = tokio::join!(self.engine.stop(PATIENCE), self.listening);
        ended && listening.is_ok()
    }
}

fn router(
    store: Arc<dyn Store>,
    settings: &Settings,
    stranger: Policy,
    ready: Arc<AtomicBool>,
) -> Router {
    let api = Api {
        store: Arc::clone(&store),
        clock: Clock,
        admin: settings
            .admin_token
            .as_ref()
            .map(|token| api::digest(token.expose())),
        check_url: Arc::new(move |url| {
            egress::check(url, &stranger)
                .map(|url| url.to_string())
                .map_err(|bad| bad.to_string())
        }),
        check_source: Arc::new(|provider, secrets, rules| {
            door::provider::check(provider, secrets, rules).map(|_| ())
        }),
    };
    let readiness = move |store: Arc<dyn Store>| async move {
        if ready.load(Ordering::Relaxed) && store.health().await.is_ok() {
            "ready\n".into_response()
        } else {
            refusal(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "Not ready.")
        }
    };
    let asked = Arc::clone(&store);
    Router::new()
        .route("/livez", only_get(get(|| async { "alive\n" })))
        .route(
            "/readyz",
            only_get(get(move || readiness(Arc::clone(&asked)))),
        )
        .merge(door::provider::router(store))
        .fallback_service(api::router(api))
}

/// Says no to other methods as the API does.
fn only_get(route: MethodRouter) -> MethodRouter {
    route.fallback(|| async {
        let detail = "This address does not know that method; see the Allow header.";
        let answer = refusal(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail);
        ([(ALLOW, "GET, HEAD")], answer)
    })
}

/// A refusal in the API's form.
fn refusal(status: StatusCode, code: &str, detail: &str) -> Response {
    (status, Json(json!({"code": code, "detail": detail}))).into_response()
}

/// The key that was written beside the database at its first start, or one written now.
fn key_file(database: &Path) -> anyhow::Result<[u8; 32]> {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    let mut name = database.as_os_str().to_owned();
    name.push(".key");
    let path = PathBuf::from(name);
    let read = std::fs::read_to_string(&path);
    match read {
        Ok(text) => STANDARD
            .decode(text.trim())
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .with_context(|| {
                format!(
                    "{} is not a key (base64 of 32 bytes); restore it from a backup",
                    path.display()
                )
            }),
        // A new key would leave what is in the database sealed for ever.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !database.exists() => {
            let key: [u8; 32] = rand::random();
            write_private(&path, &STANDARD.encode(key))
                .with_context(|| format!("cannot write the key file {}", path.display()))?;
            Ok(key)
        }
        Err(error) => Err(error).with_context(|| {
            format!(
                "cannot read the key file {}; restore it, or set HOOKBOX_SECRET_KEY",
                path.display()
            )
        }),
    }
}

/// Writes a file that only its owner may read, and has it on the disk before anything is sealed with it.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()?;
    // The file's name is in its folder, which is another file.
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    std::fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Makes the sources of the settings file what the file says.
async fn apply_sources(store: &dyn Store, settings: &Settings) -> anyhow::Result<()> {
    let now = Clock.now();
    for draft in &settings.sources {
        let name = draft.name.clone();
        store
            .put_source(draft.clone(), true, now, None)
            .await
            .with_context(|| format!("source '{name}' of the settings file"))?;
    }
    let page = Page {
        limit: 250,
        after: None,
        backwards: false,
        descending: false,
    };
    let mut known = store.sources(page.clone()).await?;
    loop {
        let last = known.data.last().map(|source| source.name.clone());
        for gone in known.data.iter().filter(|source| source.from_file) {
            if !settings.sources.iter().any(|draft| draft.name == gone.name) {
                tracing::warn!(source = %gone.name, "not in the settings file any more; closed");
                store.delete_source(gone.id, now).await?;
            }
        }
        if !known.more {
            return Ok(());
        }
        known = store
            .sources(Page {
                after: last,
                ..page.clone()
            })
            .await?;
    }
}

/// Makes a token when nobody could call the API without one.
async fn first_token(store: &dyn Store, settings: &Settings) -> anyhow::Result<Option<Secret>> {
    let page = Page {
        limit: 1,
        after: None,
        backwards: false,
        descending: false,
    };
    if settings.admin_token.is_some() || !store.tokens(page).await?.data.is_empty() {
        return Ok(None);
    }
    let text = api::new_token();
    let now = Clock.now();
    let token = Token {
        id: TokenId::new(now),
        name: "first".to_owned(),
        digest: api::digest(&text),
        created_at: now,
    };
    store.create_token(token).await?;
    Ok(Some(Secret::new(text)))
}
