//! What the built server does, seen from outside.

mod arrows;
mod bad_input;
mod bytes;
mod cli;
mod disk;
mod egress;
mod given;
mod inbox;
mod isolation;
mod kill;
mod oracles;
mod outbox;
mod stop;
mod store;
