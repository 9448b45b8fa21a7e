//! Load on many nodes: senders that come again, at whichever node, until they are told that it was taken.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hookbox_testkit::clock::pause;
use hookbox_testkit::{Client, Server, sign};
use rand::RngExt as _;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::given;

/// The name of the source that every load sends events to.
const SOURCE: &str = "stripe";

/// After which a sender that was refused comes again.
const AGAIN: Duration = Duration::from_millis(20);

/// What is to be sent.
#[derive(Clone)]
pub(crate) struct Plan {
    /// Names of applications; events go to the source in turn with them.
    pub(crate) applications: Vec<String>,
    /// How many messages in all.
    pub(crate) messages: usize,
    /// How many send at the same time.
    pub(crate) senders: usize,
    /// How many of them send the same message, each until it is taken.
    pub(crate) times: usize,
}

/// A load under way.
pub(crate) struct Load {
    accepted: mpsc::UnboundedReceiver<String>,
    senders: JoinSet<()>,
    /// What was answered 2xx.
    pub(crate) ledger: HashSet<String>,
}

struct Shared {
    plan: Plan,
    nodes: Vec<Client>,
    next: AtomicUsize,
    accepted: mpsc::UnboundedSender<String>,
}

/// An event that has the same bytes whenever it is sent.
pub(crate) fn event(name: &str) -> sign::Signed {
    let body = json!({"id": name, "type": "a.b"}).to_string();
    sign::stripe(sign::STRIPE_SECRET, body.as_bytes())
}

impl Plan {
    /// That many messages of one application, by 16 senders, each once.
    pub(crate) fn of(messages: usize) -> Self {
        Self {
            applications: vec!["acme".into()],
            messages,
            senders: 16,
            times: 1,
        }
    }
}

/// Makes the source and the applications, an endpoint for each.
pub(crate) async fn prepare(
    client: &Client,
    applications: impl IntoIterator<Item: AsRef<str>>,
    url: impl Fn(&str) -> String,
) {
    let new = json!({
        "name": SOURCE, "provider": SOURCE, "secrets": [sign::STRIPE_SECRET], "forward": [url("/in")],
    });
    client.post("/api/v1/source", &new).await.expect(201);
    for application in applications {
        given::endpoint(client, application.as_ref(), &url("/out")).await;
    }
}

impl Load {
    /// Starts sending to those nodes.
    pub(crate) fn start(nodes: &[Server], plan: Plan) -> Self {
        let (accepted, acceptances) = mpsc::unbounded_channel();
        let senders = plan.senders;
        let shared = Arc::new(Shared {
            plan,
            nodes: nodes.iter().map(Server::client).collect(),
            next: AtomicUsize::new(0),
            accepted,
        });
        let mut tasks = JoinSet::new();
        for _ in 0..senders {
            tasks.spawn(send(Arc::clone(&shared)));
        }
        Self {
            accepted: acceptances,
            senders: tasks,
            ledger: HashSet::new(),
        }
    }

    /// Waits until so many more were taken; `false` when all have been.
    pub(crate) async fn taken(&mut self, more: usize) -> bool {
        for _ in 0..more {
            match self.accepted.recv().await {
                Some(name) => self.ledger.insert(name),
                None => return false,
            };
        }
        true
    }

    /// Waits until everything was taken; returns what was.
    pub(crate) async fn end(mut self) -> HashSet<String> {
        while self.taken(1).await {}
        self.senders.join_all().await;
        self.ledger
    }
}

async fn send(shared: Arc<Shared>) {
    loop {
        let number = shared.next.fetch_add(1, Ordering::Relaxed) / shared.plan.times;
        if number >= shared.plan.messages {
            return;
        }
        let name = shared.send(number).await;
        shared.accepted.send(name).expect("the test counts");
    }
}

impl Shared {
    async fn send(&self, number: usize) -> String {
        let turn = number % (self.plan.applications.len() + 1);
        match self.plan.applications.get(turn) {
            Some(application) => self.message(application, number).await,
            None => self.event(number).await,
        }
    }

    /// A provider: sends an event until it was taken.
    async fn event(&self, number: usize) -> String {
        let name = format!("evt_{number}");
        let event = event(&name);
        self.until(200, &format!("/in/{SOURCE}"), &event.headers, &event.body)
            .await;
        name
    }

    /// A backend: sends a message until it was taken.
    async fn message(&self, application: &str, number: usize) -> String {
        let name = format!("out_{number}");
        let headers = [
            ("content-type".to_owned(), "application/json".to_owned()),
            ("idempotency-key".to_owned(), format!("key_{number}")),
        ];
        let body = json!({"eventType": "a.b", "eventId": name, "payload": {"id": name}});
        let path = format!("/api/v1/app/{application}/msg");
        self.until(202, &path, &headers, body.to_string().as_bytes())
            .await;
        name
    }

    /// Sends a request, each time to any node, until it has that answer. No answer and 503 are the only others.
    async fn until(&self, status: u16, path: &str, headers: &[(String, String)], body: &[u8]) {
        loop {
            let node = rand::rng().random_range(0..self.nodes.len());
            let body = hookbox_testkit::http::full(body);
            let sent = self.nodes[node]
                .try_send(http::Method::POST, path, headers, body)
                .await;
            match sent {
                Ok(reply) if reply.status == status => return,
                Ok(reply) => assert_eq!(reply.status, 503, "{reply:?}"),
                Err(_) => {}
            }
            pause(AGAIN).await;
        }
    }
}
