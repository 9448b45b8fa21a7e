//! How messages come in, other than over the API.

pub mod provider;
