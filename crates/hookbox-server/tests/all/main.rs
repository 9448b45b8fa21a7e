//! What the built server does, seen from outside.

mod arrows;
mod bad_input;
mod bench;
mod bytes;
mod cli;
mod disk;
mod egress;
mod given;
mod inbox;
mod kill;
mod long;
mod metrics;
mod nodes;
mod oracles;
mod outbox;
mod stop;
mod store;
