//! What the built server does, seen from outside.

mod arrows;
mod bad_input;
mod bench;
mod bytes;
mod cli;
mod disk;
mod doctor;
mod egress;
mod given;
mod inbox;
mod isolation;
mod kill;
mod long;
mod metrics;
mod nodes;
mod oracles;
mod outbox;
mod stop;
mod store;
