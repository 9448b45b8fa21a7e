//! The binary `hookbox`.

use std::process::ExitCode;

use clap::Parser as _;
use hookbox_server::cli::Cli;

/// Requests come and go on all threads, which is what the system's allocator is slow at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    Cli::parse().run()
}
