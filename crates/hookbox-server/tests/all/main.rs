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
mod metrics;
mod oracles;
mod outbox;
mod stop;
mod store;
