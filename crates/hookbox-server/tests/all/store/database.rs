//! A database of a test's own, and what stands in it.

use std::path::Path;
use std::sync::{Arc, Mutex};

use hookbox_server::model::endpoint::SigningSecret;
use hookbox_server::model::{
    Application, ApplicationId, Endpoint, EndpointId, MessageId, Secret, SourceId, Time,
};
use hookbox_server::store::Migrate;
use hookbox_server::store::cluster::ClusterStore;
use hookbox_server::store::handoff::Limits;
use hookbox_server::store::seal::Sealer;
use hookbox_server::store::sqlite::{OpenError, SqliteStore};
use hookbox_server::store::{Draft, Handoff, Once, Page, Seen, SourceDraft, Store, Work};
use hookbox_testkit::Database;
use hookbox_testkit::database::Kind;
use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedReceiver;

/// A moment that the tests begin at. It lies in the past, so that a lease until then has run out.
pub(crate) const NOW: Time = Time(1_700_000_000_000);

/// The database under test. It outlives the store on it, which can be opened anew.
pub(crate) struct TestDatabase {
    place: Place,
    open: Mutex<Option<Open>>,
    limits: Mutex<Limits>,
}

enum Place {
    Folder(TempDir),
    Server(Database),
}

struct Open {
    store: Arc<dyn Store>,
    handoff: Handoff,
    work: UnboundedReceiver<Work>,
}

const NO_ROOM: Limits = Limits {
    slots: 0,
    bytes: 0,
    application: 0,
    in_flight: 0,
    lane: 0,
};

impl TestDatabase {
    pub(crate) async fn sqlite() -> Self {
        Self::on(Place::Folder(tempfile::tempdir().unwrap())).await
    }

    pub(crate) async fn postgres() -> Self {
        Self::on(Place::Server(Database::postgres().await)).await
    }

    pub(crate) async fn mysql() -> Self {
        Self::on(Place::Server(Database::mysql().await)).await
    }

    async fn on(place: Place) -> Self {
        let database = Self {
            place,
            open: Mutex::new(None),
            limits: Mutex::new(NO_ROOM),
        };
        database.reopen().await;
        database
    }

    /// Gives the node room.
    pub(crate) async fn with_room(&self, limits: Limits) {
        *self.limits.lock().unwrap() = limits;
        self.reopen().await;
    }

    /// Closes the store, if it is open, and opens it again.
    pub(crate) async fn reopen(&self) {
        self.close();
        let limits = *self.limits.lock().unwrap();
        let (handoff, work) = Handoff::new(limits);
        let sealer = Sealer::new([7; 32]);
        let store: Arc<dyn Store> = match &self.place {
            Place::Folder(_) => Arc::new(self.open_file(7, handoff.clone()).unwrap()),
            Place::Server(server) => {
                let store =
                    ClusterStore::open(server.url(), sealer, handoff.clone(), Migrate::IfEmpty);
                Arc::new(store.await.unwrap())
            }
        };
        *self.open.lock().unwrap() = Some(Open {
            store,
            handoff,
            work,
        });
    }

    /// The stores of that many nodes; a file has one, which all share.
    pub(crate) async fn nodes(&self, count: usize) -> Vec<Arc<dyn Store>> {
        let mut nodes = vec![self.store()];
        while nodes.len() < count {
            nodes.push(match &self.place {
                Place::Folder(_) => self.store(),
                Place::Server(server) => {
                    let (sealer, handoff) = (Sealer::new([7; 32]), Handoff::closed());
                    let store = ClusterStore::open(server.url(), sealer, handoff, Migrate::IfEmpty);
                    Arc::new(store.await.unwrap())
                }
            });
        }
        nodes
    }

    fn open_file(&self, key: u8, handoff: Handoff) -> Result<SqliteStore, OpenError> {
        let path = self.folder().join("test.db");
        SqliteStore::open(&path, Sealer::new([key; 32]), handoff, Migrate::IfEmpty)
    }

    /// The address of a shared database.
    pub(crate) fn url(&self) -> &str {
        match &self.place {
            Place::Folder(_) => panic!("this database is a file"),
            Place::Server(server) => server.url(),
        }
    }

    /// Where the file of an `SQLite` database is.
    pub(crate) fn folder(&self) -> &Path {
        match &self.place {
            Place::Folder(folder) => folder.path(),
            Place::Server(_) => panic!("this database is no file"),
        }
    }

    /// Opens the same file again with another key, while it may be open.
    pub(crate) fn open_again(&self, key: u8) -> Option<OpenError> {
        self.open_file(key, Handoff::closed()).err()
    }

    /// From now on a shared database itself refuses messages of that type.
    pub(crate) async fn refuses_messages_of(&self, event_type: &str) {
        let Place::Server(server) = &self.place else {
            panic!("this database is a file");
        };
        let table = match server.kind() {
            Kind::Postgres => "hookbox.message",
            Kind::Mysql => "message",
        };
        let check = format!(
            "ALTER TABLE {table} ADD CONSTRAINT refused CHECK (event_type <> '{event_type}')"
        );
        server.run_inside(&check).await.unwrap();
    }

    pub(crate) fn close(&self) {
        *self.open.lock().unwrap() = None;
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.open.lock().unwrap().as_ref().unwrap().store)
    }

    pub(crate) fn handoff(&self) -> Handoff {
        self.open.lock().unwrap().as_ref().unwrap().handoff.clone()
    }

    /// What was handed over since the last call.
    pub(crate) fn handed_over(&self) -> Vec<Work> {
        let mut open = self.open.lock().unwrap();
        let work = &mut open.as_mut().unwrap().work;
        std::iter::from_fn(|| work.try_recv().ok()).collect()
    }

    pub(crate) async fn application(&self, uid: &str) -> ApplicationId {
        let new = application(uid);
        self.store()
            .create_application(new.clone(), None)
            .await
            .unwrap();
        new.id
    }

    pub(crate) async fn endpoint(
        &self,
        application: ApplicationId,
        change: impl FnOnce(&mut Endpoint),
    ) -> EndpointId {
        let mut new = endpoint(application);
        change(&mut new);
        self.store()
            .create_endpoint(new.clone(), None)
            .await
            .unwrap();
        new.id
    }

    pub(crate) async fn source(&self, name: &str, forward: &[&str]) -> SourceId {
        let draft = SourceDraft {
            name: name.to_owned(),
            application_uid: Application::DEFAULT_UID.to_owned(),
            provider: "stripe".to_owned(),
            secrets: vec![Secret::new("whsec_source_canary")],
            rules: hookbox_server::model::source::Rules::default(),
            forward: forward.iter().map(|url| (*url).to_owned()).collect(),
            from_file: false,
        };
        self.store()
            .put_source(draft, true, NOW, None)
            .await
            .unwrap()
            .id
    }
}

pub(crate) fn application(uid: &str) -> Application {
    Application {
        id: ApplicationId::new(NOW),
        uid: Some(uid.to_owned()),
        name: uid.to_owned(),
        throttle_rate: None,
        metadata: std::collections::BTreeMap::default(),
        created_at: NOW,
        updated_at: NOW,
    }
}

pub(crate) fn endpoint(application_id: ApplicationId) -> Endpoint {
    Endpoint {
        id: EndpointId::new(NOW),
        application_id,
        uid: None,
        url: "https://example.com/".to_owned(),
        description: String::new(),
        throttle_rate: None,
        event_types: None,
        channels: None,
        source: None,
        trusted: false,
        disabled: None,
        metadata: std::collections::BTreeMap::default(),
        headers: Vec::new(),
        secrets: vec![SigningSecret::generate()],
        retry_schedule: None,
        created_at: NOW,
        updated_at: NOW,
    }
}

/// A message of the API.
pub(crate) fn draft(application: &str) -> Draft {
    Draft {
        id: MessageId::new(NOW),
        application: application.to_owned(),
        event_id: None,
        event_type: "a.b".to_owned(),
        channels: Vec::new(),
        content_type: "application/json".to_owned(),
        payload: b"{}".to_vec().into(),
        headers: Vec::new(),
        seen: None,
        created_at: NOW,
        once: None,
    }
}

/// An event of a source.
pub(crate) fn event(source_id: SourceId, id: &str, digest: u8) -> Draft {
    let seen = Seen {
        source_id,
        event_id: id.to_owned(),
        digest: [digest; 32],
    };
    Draft {
        seen: Some(seen),
        ..draft(Application::DEFAULT_UID)
    }
}

pub(crate) fn once(key: u8, request: u8) -> Once {
    Once {
        key: [key; 32],
        request: [request; 32],
        status: 202,
        body: b"the answer".to_vec(),
        at: NOW,
    }
}

/// All of a list.
pub(crate) fn all<C>() -> Page<C> {
    Page {
        limit: 250,
        after: None,
        backwards: false,
        descending: false,
    }
}
