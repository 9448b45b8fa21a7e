//! A whole server in this process: everything put together, started, and stopped in order.

mod figures;
pub(super) mod open;
mod watch;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::watch::Watch;
use crate::api::{self, Api};
use crate::door;
use crate::egress::{self, Client, Policy, Resolver};
use crate::engine::{Clients, Engine, upkeep};
use crate::listen;
use crate::model::{Clock, Secret, TokenId};
use crate::settings::{SLOTS, Settings};
use crate::store::{Handoff, Migrate, Page, Store, Token, handoff};

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
    engine: Option<Engine>,
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
        let roles = settings.roles;
        let limits = handoff::Limits {
            slots: SLOTS,
            bytes: BYTES,
            application: settings.application_concurrency,
            in_flight: settings.endpoint_concurrency,
            lane: settings.endpoint_concurrency * IN_LINE,
        };
        let (handoff, work) = Handoff::with_lease(limits, settings.lease);
        if !roles.engine {
            handoff.close();
        }
        let store = open::store(settings, handoff.clone(), migrate).await?;
        // A node without doors may have no word of them in its file.
        if roles.doors {
            apply_sources(&*store, settings).await?;
        }
        let new_token = match roles.api {
            true => first_token(&*store, settings).await?,
            false => None,
        };
        let stranger = Policy::Stranger {
            allow: settings.egress_allow.clone(),
            allow_http: settings.allow_http,
        };
        let resolver = Resolver::system();
        let clients = Clients {
            trusted: Client::new(Policy::Trusted, resolver.clone()),
            stranger: Client::new(stranger.clone(), resolver),
        };
        let engine = roles.engine.then(|| {
            Engine::start(
                Arc::clone(&store),
                handoff.clone(),
                work,
                clients,
                settings.retry_schedule.clone(),
            )
        });
        let stop = CancellationToken::new();
        if roles.upkeep {
            let upkeep = upkeep::run(Arc::clone(&store), settings.retention, stop.clone());
            tokio::spawn(upkeep);
        }
        let ready = Arc::new(AtomicBool::new(true));
        let watch = Watch::new(
            Arc::clone(&store),
            handoff,
            Arc::clone(&ready),
            settings.metrics_token.as_ref(),
        );
        let app = router(store, settings, stranger, watch);
        let address = listener.local_addr()?;
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
        let engine = async {
            match self.engine {
                Some(engine) => engine.stop(PATIENCE).await,
                None => true,
            }
        };
        let (ended, listening) = tokio::join!(engine, self.listening);
        ended && listening.is_ok()
    }
}

fn router(store: Arc<dyn Store>, settings: &Settings, stranger: Policy, watch: Watch) -> Router {
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
    let mut app = watch.router();
    if settings.roles.doors {
        app = app.merge(door::provider::router(store));
    }
    if settings.roles.api {
        app.fallback_service(api::router(api))
    } else {
        app.fallback(watch::not_here)
    }
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
