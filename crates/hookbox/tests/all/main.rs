//! The library from outside: published vectors, reported bugs, and hostile input.

mod bodies;
mod configuration;
mod github;
mod hostile;
mod refusals;
mod request;
mod shopify;
mod signing;
mod standard_webhooks;
mod stripe;
