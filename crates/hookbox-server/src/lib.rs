//! The server: doors, store, engine and terminal of Hookbox.

pub mod api;
pub mod door;
pub mod egress;
pub mod engine;
pub mod model;
pub mod store;
