//! The server: doors, store, engine and terminal of Hookbox.

pub mod door;
pub mod model;
pub mod store;
