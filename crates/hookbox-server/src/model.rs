//! What Hookbox knows, without any input or output: pure types and pure rules.

pub mod application;
pub mod attempt;
pub mod delivery;
pub mod endpoint;
pub mod event_type;
pub mod health;
pub mod id;
pub mod message;
pub mod retry;
pub mod secret;
pub mod source;
pub mod time;

pub use application::Application;
pub use attempt::Attempt;
pub use delivery::{Cause, Delivery, Event, State};
pub use endpoint::Endpoint;
pub use event_type::EventType;
pub use health::Health;
pub use id::{ApplicationId, AttemptId, EndpointId, MessageId, SourceId, TokenId};
pub use message::{Message, Receipt};
pub use retry::Schedule;
pub use secret::Secret;
pub use source::Source;
pub use time::{Clock, Time};
