//! Where everything is kept: the promises of storage, in words.
//!
//! A driver keeps these promises for one kind of database:
//!
//! - **Durable.** When a call that writes returns `Ok`, what it wrote survives the death of the process and
//!   of the machine. One exception: a result ([`Store::settle`]) may be lost with the database's machine; its
//!   delivery is then still leased, and tried again. When a call returns an error it wrote nothing, unless the
//!   error says that this is unknown, or that the database did not answer in time.
//! - **Whole.** A call is one transaction, or part of one shared with other calls; nobody sees half of it.
//! - **Shared commits.** Many calls may run at once; the driver gathers those that wait while a commit is
//!   under way into the next one.
//! - **Quick to refuse.** A database that cannot write makes a call return [`Error::Unavailable`]; it does
//!   not make it wait.

pub mod cluster;
mod columns;
pub mod diagnosis;
mod error;
mod forward;
pub mod handoff;
mod list;
mod queue;
mod schema;
pub mod seal;
pub mod sqlite;
mod upkeep;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

pub use error::{Error, Result};
pub use handoff::Handoff;
pub use list::{AttemptFilter, DeadFilter, Listing, MessageFilter, Page};
pub use queue::{QueueFigures, Waiting};
pub use schema::{Migrate, SchemaError};
pub use upkeep::{Removed, Retention};

use crate::model::application::Application;
use crate::model::source::Rules;
use crate::model::{
    ApplicationId, Attempt, AttemptId, Delivery, Endpoint, EndpointId, EventType, Message,
    MessageId, Receipt, Secret, Source, SourceId, Time, TokenId,
};

/// How long a delivery stays leased to a node, unless a setting says otherwise. Longer than a try can take, its turn
/// included.
pub const LEASE: Duration = Duration::from_secs(60);

/// A caller's `idempotency-key`: the answer is kept with the change, and given again to its repeats.
#[derive(Clone, Debug)]
pub struct Once {
    /// Digest of the caller and the key.
    pub key: [u8; 32],
    /// Digest of the request, to tell a repeat from another request under the same key.
    pub request: [u8; 32],
    /// The status of the answer.
    pub status: u16,
    /// The body of the answer.
    pub body: Vec<u8>,
    /// When it was asked first.
    pub at: Time,
}

/// A message to record.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The id it will have.
    pub id: MessageId,
    /// Whose it is: an application's id or uid.
    pub application: String,
    /// The name its sender gave it; must be new in the application.
    pub event_id: Option<String>,
    /// What kind of thing happened.
    pub event_type: String,
    /// The channels it is for.
    pub channels: Vec<String>,
    /// What the bytes are.
    pub content_type: String,
    /// The exact bytes.
    pub payload: Bytes,
    /// The provider's headers.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The door it came by, for one from a provider.
    pub seen: Option<Seen>,
    /// When it came.
    pub created_at: Time,
    /// The caller's idempotency key.
    pub once: Option<Once>,
}

/// What a source saw: the key that makes the second arrival a duplicate.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The source.
    pub source_id: SourceId,
    /// The provider's name for the event.
    pub event_id: String,
    /// SHA-256 of the body.
    pub digest: [u8; 32],
}

/// What became of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It is a message now.
    New(MessageId),
    /// The source has seen it; this is the message that it became then.
    Duplicate(MessageId),
    /// The source has seen other bytes under this event's name: kept as this message, delivered to nobody.
    Quarantined(MessageId),
}

/// A delivery that this node holds, with everything to try it.
#[derive(Debug)]
pub struct Work {
    /// The delivery, leased.
    pub delivery: Delivery,
    /// What to deliver.
    pub message: Arc<Message>,
    /// To whom.
    pub endpoint: Arc<Endpoint>,
    /// The room that it takes; given back when dropped.
    pub slot: handoff::Slot,
}

/// What a claim found.
#[derive(Debug, Default)]
pub struct Claimed {
    /// When something is due next, as far as is known; `None` when nothing waits.
    pub next_due: Option<Time>,
    /// How many deliveries were handed over.
    pub count: usize,
}

/// The result of a try, or of giving it up: one move of a delivery and the attempt that caused it.
#[derive(Clone, Debug)]
pub struct Settlement {
    /// The delivery after the move. Its fence says which lease the result belongs to.
    pub delivery: Delivery,
    /// The try; `None` when there was none.
    pub attempt: Option<Attempt>,
    /// The receiver is gone: disable the endpoint in the same transaction.
    pub endpoint_gone: bool,
}

/// What to do with dead letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadMove {
    /// Send them again.
    Replay,
    /// Forget them.
    Discard,
}

/// A delivery that was given up.
#[derive(Clone, Debug)]
pub struct DeadLetter {
    /// The delivery; its state holds the cause.
    pub delivery: Delivery,
    /// The event type of its message.
    pub event_type: String,
    /// The address of its endpoint.
    pub url: String,
    /// Its last try, if there was one.
    pub last_attempt: Option<Attempt>,
}

/// A source to make or replace.
#[derive(Clone, Debug)]
pub struct SourceDraft {
    /// Its name in the address.
    pub name: String,
    /// The uid of its application, which is made when it does not exist.
    pub application_uid: String,
    /// The provider's name.
    pub provider: String,
    /// What its requests may be signed with.
    pub secrets: Vec<Secret>,
    /// How they are checked.
    pub rules: Rules,
    /// The operator's own addresses that take its events. The n-th address stays one endpoint when it is
    /// rewritten, so what waits for it goes to the new address.
    pub forward: Vec<String>,
    /// Written in the settings file.
    pub from_file: bool,
}

/// An API token as kept: its digest only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its id.
    pub id: TokenId,
    /// What people call it.
    pub name: String,
    /// SHA-256 of its text.
    pub digest: [u8; 32],
    /// When it was made.
    pub created_at: Time,
}

/// A change to one thing, made inside the transaction that reads and writes it.
///
/// It may be made again when another transaction was in the way.
pub type Change<T> = Box<dyn Fn(&mut T) -> Result<()> + Send + Sync>;

/// What keeps everything. See the module for what every driver promises.
#[async_trait]
pub trait Store: Debug + Send + Sync + 'static {
    // The hot path.

    /// Records messages, their receipts, and one delivery for each endpoint that wants them.
    ///
    /// All of one call or none. Deliveries for which the node has room ([`Handoff`]) are leased and handed
    /// over as soon as they are durable; the others are due at once. An endpoint made before the call gets
    /// its delivery, whichever node made it.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the application, [`Error::Conflict`] when the event id is taken,
    /// [`Error::Repeated`] or [`Error::KeyReused`] for an idempotency key seen before.
    async fn record(&self, drafts: Vec<Draft>) -> Result<Vec<Recorded>>;

    /// Leases due deliveries until `lease_until`, as many as the node has room for, and hands them over.
    /// Deliveries whose lease ran out are due. Every endpoint has its turn, however many there are; of one
    /// endpoint's deliveries those that never failed come first, then what was due first.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    async fn claim(&self, now: Time, lease_until: Time) -> Result<Claimed>;

    /// Writes results. A result moves its delivery only while the delivery is leased under the same fence;
    /// otherwise the attempt alone is kept, marked late. Returns for each whether it moved.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<bool>>;

    // Applications. A key is an id or a uid.

    /// Adds an application.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the uid is taken.
    async fn create_application(&self, new: Application, once: Option<Once>) -> Result<()>;
    /// One application.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    async fn application(&self, key: &str) -> Result<Application>;
    /// Applications in the order of their ids.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    async fn applications(&self, page: Page<ApplicationId>) -> Result<Listing<Application>>;
    /// Changes an application.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Conflict`] when the new uid is taken, and what `change` returns.
    async fn change_application(
        &self,
        key: &str,
        change: Change<Application>,
    ) -> Result<Application>;
    /// Deletes an application and its endpoints; their open deliveries are cancelled.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] while a source belongs to it.
    async fn delete_application(&self, id: ApplicationId, now: Time) -> Result<()>;

    // Endpoints.

    /// Adds an endpoint to its application.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the uid is taken; [`Error::UnknownEventTypes`].
    async fn create_endpoint(&self, new: Endpoint, once: Option<Once>) -> Result<()>;
    /// One endpoint, by id or uid.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    async fn endpoint(&self, application: ApplicationId, key: &str) -> Result<Endpoint>;
    /// Endpoints in the order of their ids.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    async fn endpoints(
        &self,
        application: ApplicationId,
        page: Page<EndpointId>,
    ) -> Result<Listing<Endpoint>>;
    /// Changes an endpoint. Disabling it holds what waits for it; enabling it makes that due.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Conflict`], [`Error::UnknownEventTypes`], what `change` returns, and
    /// those of an idempotency key.
    async fn change_endpoint(
        &self,
        id: EndpointId,
        now: Time,
        change: Change<Endpoint>,
        once: Option<Once>,
    ) -> Result<Endpoint>;
    /// Deletes an endpoint; its open deliveries are cancelled, its history stays.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    async fn delete_endpoint(&self, id: EndpointId, now: Time) -> Result<()>;

    // Event types.

    /// Adds an event type; one that is archived is replaced.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the name is taken.
    async fn create_event_type(&self, new: EventType, once: Option<Once>) -> Result<()>;
    /// One event type.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    async fn event_type(&self, name: &str) -> Result<EventType>;
    /// Event types in the order of their names.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    async fn event_types(
        &self,
        page: Page<String>,
        include_archived: bool,
    ) -> Result<Listing<EventType>>;

    // Messages and their deliveries.

    /// One message, by id or event id.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    async fn message(&self, application: ApplicationId, key: &str) -> Result<Message>;
    /// Messages in the order of their ids.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    async fn messages(
        &self,
        application: ApplicationId,
        filter: MessageFilter,
        page: Page<MessageId>,
    ) -> Result<Listing<Message>>;
    /// The deliveries of a message with their endpoints, those of deleted endpoints too.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    async fn deliveries(
        &self,
        message: MessageId,
        page: Page<EndpointId>,
    ) -> Result<Listing<(Delivery, Endpoint)>>;
    /// Makes a message due to an endpoint again, whatever became of it; to one that never got it, for the
    /// first time.
    ///
    /// # Errors
    /// [`Error::NotFound`]; those of an idempotency key.
    async fn replay(
        &self,
        message: MessageId,
        endpoint: EndpointId,
        now: Time,
        once: Option<Once>,
    ) -> Result<()>;
    /// Dead letters in the order of their messages' ids.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    async fn dead(
        &self,
        application: ApplicationId,
        filter: DeadFilter,
        page: Page<(MessageId, EndpointId)>,
    ) -> Result<Listing<DeadLetter>>;
    /// Replays or discards dead letters; returns how many.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; those of an idempotency key.
    async fn move_dead(
        &self,
        application: ApplicationId,
        filter: DeadFilter,
        to: DeadMove,
        now: Time,
    ) -> Result<u64>;

    // Attempts.

    /// Attempts in the order of their ids, each with the time of the next try of its delivery.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    async fn attempts(
        &self,
        application: ApplicationId,
        filter: AttemptFilter,
        page: Page<AttemptId>,
    ) -> Result<Listing<Attempt>>;
    /// One attempt of a message.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    async fn attempt(&self, message: MessageId, id: AttemptId) -> Result<Attempt>;

    // Sources.

    /// Makes a source, or replaces the one of that name when `replace`.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the name is taken and `replace` is not set, or when it belongs to the
    /// settings file and the draft does not.
    async fn put_source(
        &self,
        draft: SourceDraft,
        replace: bool,
        now: Time,
        once: Option<Once>,
    ) -> Result<Source>;
    /// One source by name. Answered from memory.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    async fn source(&self, name: &str) -> Result<Arc<Source>>;
    /// Sources in the order of their names.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    async fn sources(&self, page: Page<String>) -> Result<Listing<Source>>;
    /// Deletes a source and its forward addresses; what waits for those is cancelled.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    async fn delete_source(&self, id: SourceId, now: Time) -> Result<()>;
    /// Receipts of a source in the order of their messages' ids.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    async fn receipts(&self, source: SourceId, page: Page<MessageId>) -> Result<Listing<Receipt>>;

    // Tokens.

    /// Adds a token.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    async fn create_token(&self, new: Token) -> Result<()>;
    /// The token of that digest. Answered from memory.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    async fn token(&self, digest: [u8; 32]) -> Result<Token>;
    /// Live tokens in the order of their ids.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    async fn tokens(&self, page: Page<TokenId>) -> Result<Listing<Token>>;
    /// Revokes a token, at once.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    async fn revoke_token(&self, id: TokenId) -> Result<()>;

    /// Removes some of what is kept long enough: see [`Retention`]. A message with a delivery that is not settled
    /// stays; one that is held, since its endpoint is disabled, goes with its message.
    ///
    /// One node does it at a time; returns nothing when another does. Done twice it is harmless.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    async fn upkeep(&self, now: Time, keep: Retention) -> Result<Option<Removed>>;

    /// How many deliveries wait in each state, and since when: see [`QueueFigures`] for what each figure counts.
    ///
    /// Asked every 10 seconds at most, beside the hot path: it must not hold up who writes, and must stay cheap
    /// with a million deliveries waiting. Figures of indexes or of the database's statistics are good enough for a
    /// count; a time must be true, since operators are woken by it. In a shared database the figures are those of
    /// all nodes together.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    async fn queue(&self, now: Time) -> Result<QueueFigures>;

    /// Whether the database answers and can be written.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    async fn health(&self) -> Result<()>;
}
