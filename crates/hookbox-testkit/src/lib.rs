//! What the tests share: the server as a process, a receiver that records, a client, and signed events.
//!
//! Nothing here uses the `hookbox` crate, so that what it signs and reads is a second opinion.

pub mod clock;
pub mod database;
pub mod http;
pub mod process;
pub mod service;
pub mod sign;
pub mod sink;
pub mod wire;

pub use database::Database;
pub use http::{Client, Reply};
pub use process::Server;
pub use service::Service;
pub use sign::Signed;
pub use sink::{Answer, Arrival, Sink};
pub use wire::{Fate, Wire};
