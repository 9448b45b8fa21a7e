//! A node in the test's own process: store, engine, and room as the test wants it.

use std::sync::Arc;

use hookbox_server::egress::{Client, Policy, Resolver};
use hookbox_server::engine::{Clients, Engine};
use hookbox_server::model::{Clock, Delivery, MessageId, State};
use hookbox_server::store::Migrate;
use hookbox_server::store::handoff::{Handoff, Limits};
use hookbox_server::store::seal::Sealer;
use hookbox_server::store::sqlite::SqliteStore;
use hookbox_server::store::{Draft, MessageFilter, Store};
use hookbox_testkit::clock::eventually;
use tempfile::TempDir;

use crate::store::database;

/// A running node. What it does ends with the test's runtime.
pub(super) struct Node {
    folder: TempDir,
    store: Arc<dyn Store>,
    handoff: Handoff,
    engine: Engine,
}

impl Node {
    pub(super) fn start(limits: Limits, schedule: &str) -> Self {
        Self::with(limits, schedule, Resolver::system())
    }

    pub(super) fn with(limits: Limits, schedule: &str, resolver: Resolver) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (handoff, work) = Handoff::new(limits);
        let path = folder.path().join("test.db");
        let sealer = Sealer::new([7; 32]);
        let store = SqliteStore::open(&path, sealer, handoff.clone(), Migrate::IfEmpty).unwrap();
        let store: Arc<dyn Store> = Arc::new(store);
        let stranger = Policy::Stranger {
            allow: "127.0.0.0/8".parse().unwrap(),
            allow_http: true,
        };
        let clients = Clients {
            trusted: Client::new(Policy::Trusted, resolver.clone()),
            stranger: Client::new(stranger, resolver),
        };
        let schedule = Some(schedule.parse().unwrap());
        let engine = Engine::start(Arc::clone(&store), handoff.clone(), work, clients, schedule);
        Self {
            folder,
            store,
            handoff,
            engine,
        }
    }

    /// A new application with these endpoints.
    pub(super) async fn endpoints(&self, application: &str, urls: &[String]) {
        let new = database::application(application);
        let id = new.id;
        self.store.create_application(new, None).await.unwrap();
        for url in urls {
            let mut new = database::endpoint(id);
            new.url.clone_from(url);
            self.store.create_endpoint(new, None).await.unwrap();
        }
    }

    /// Records that many messages.
    pub(super) async fn send(&self, application: &str, messages: usize) {
        let now = Clock.now();
        let draft = |_| Draft {
            id: MessageId::new(now),
            created_at: now,
            ..database::draft(application)
        };
        let drafts = (0..messages).map(draft).collect();
        self.store.record(drafts).await.unwrap();
    }

    /// Waits until nothing is held and nothing is due.
    pub(super) async fn settled(&self) {
        eventually("everything is settled", async || {
            let now = Clock.now();
            let due = self.handoff.next_due().is_some_and(|due| due <= now);
            (self.handoff.held() == 0 && !due).then_some(())
        })
        .await;
    }

    pub(super) async fn states(&self, application: &str) -> Vec<State> {
        let deliveries = self.deliveries(application).await.into_iter();
        deliveries.map(|delivery| delivery.state).collect()
    }

    /// Failures that count, of all deliveries together.
    pub(super) async fn failures(&self, application: &str) -> u32 {
        let deliveries = self.deliveries(application).await;
        deliveries.iter().map(|delivery| delivery.failures).sum()
    }

    async fn deliveries(&self, application: &str) -> Vec<Delivery> {
        let id = self.store.application(application).await.unwrap().id;
        let filter = MessageFilter::default();
        let messages = self
            .store
            .messages(id, filter, database::all())
            .await
            .unwrap();
        let mut found = Vec::new();
        for message in messages.data {
            let of_it = self
                .store
                .deliveries(message.id, database::all())
                .await
                .unwrap();
            found.extend(of_it.data.into_iter().map(|(delivery, _)| delivery));
        }
        found
    }

    pub(super) fn can_write(&self) -> bool {
        self.engine.can_write()
    }

    /// Changes its database behind its back.
    pub(super) fn sql(&self, statement: &str) {
        let path = self.folder.path().join("test.db");
        let database = rusqlite::Connection::open(path).unwrap();
        database.execute_batch(statement).unwrap();
    }
}
