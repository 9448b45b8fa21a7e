//! The server: doors, store, engine and terminal of Hookbox.

pub mod api;
pub mod cli;
pub mod door;
pub mod egress;
pub mod engine;
pub mod listen;
pub mod model;
pub mod settings;
pub mod store;
pub mod telemetry;
