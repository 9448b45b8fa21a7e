//! A database of a test's own, and what stands in it.

use std::sync::{Arc, Mutex};

use hookbox_server::model::endpoint::SigningSecret;
use hookbox_server::model::{
    Application, ApplicationId, Endpoint, EndpointId, MessageId, Secret, SourceId, Time,
};
use hookbox_server::store::handoff::Limits;
use hookbox_server::store::seal::Sealer;
use hookbox_server::store::sqlite::{Migrate, OpenError, SqliteStore};
use hookbox_server::store::{Draft, Handoff, Once, Page, Seen, SourceDraft, Store, Work};
use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedReceiver;

/// A moment that the tests begin at. It lies in the past, so that a lease until then has run out.
pub(crate) const NOW: Time = Time(1_700_000_000_000);

/// The database under test. It keeps its file; the store on it can be opened anew.
pub(crate) struct TestDatabase {
    pub(crate) folder: TempDir,
    open: Mutex<Option<Open>>,
    limits: Limits,
}

struct Open {
    store: Arc<SqliteStore>,
    handoff: Handoff,
    work: UnboundedReceiver<Work>,
}

impl TestDatabase {
    pub(crate) fn sqlite() -> Self {
        Self::with_room(Limits {
            slots: 0,
            bytes: 0,
            application: 0,
            in_flight: 0,
            lane: 0,
        })
    }

    /// One whose node has room.
    pub(crate) fn with_room(limits: Limits) -> Self {
        let database = Self {
            folder: tempfile::tempdir().unwrap(),
            open: Mutex::new(None),
            limits,
        };
        database.reopen();
        database
    }

    /// Closes the store, if it is open, and opens it again.
    pub(crate) fn reopen(&self) {
        *self.open.lock().unwrap() = None;
        *self.open.lock().unwrap() = Some(self.try_open(7).unwrap());
    }

    fn try_open(&self, key: u8) -> Result<Open, OpenError> {
        let (handoff, work) = Handoff::new(self.limits);
        let path = self.folder.path().join("test.db");
        let store = SqliteStore::open(
            &path,
            Sealer::new([key; 32]),
            handoff.clone(),
            Migrate::IfEmpty,
        )?;
        Ok(Open {
            store: Arc::new(store),
            handoff,
            work,
        })
    }

    /// Opens the same file again with another key, while it may be open.
    pub(crate) fn open_again(&self, key: u8) -> Option<OpenError> {
        self.try_open(key).err()
    }

    pub(crate) fn close(&self) {
        *self.open.lock().unwrap() = None;
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.open.lock().unwrap().as_ref().unwrap().store) as Arc<dyn Store>
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
