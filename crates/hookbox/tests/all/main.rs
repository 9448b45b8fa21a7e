//! The library from outside: published vectors, reported bugs, and hostile input.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bodies;
mod configuration;
mod github;
mod github_events;
mod hostile;
mod refusals;
mod request;
mod shopify;
mod signing;
mod standard_webhooks;
mod standard_webhooks_headers;
mod stripe;
