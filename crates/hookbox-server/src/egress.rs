//! The one way out. Nothing else in the server opens a connection to an address that it was given.
//!
//! A name is resolved here, every address it stands for is judged, and the connection goes to one of those and
//! to nothing else. No redirect is followed, no proxy of the environment used, nothing decompressed. One deadline
//! lies over all of it, from the name to the last byte of the answer.

pub mod address;
mod client;
mod connect;
mod policy;
mod resolve;
mod stream;
mod target;

pub use client::{Answer, Client, Failure, FailureKind, Limits, Request};
pub use policy::{AllowList, NotANetwork, Policy};
pub use resolve::Resolver;
pub use target::{BadUrl, LONGEST_URL, check};
