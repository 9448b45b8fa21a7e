//! The binary `hookbox`.

use std::process::ExitCode;

use clap::Parser as _;
use hookbox_server::cli::Cli;

fn main() -> ExitCode {
    Cli::parse().run()
}
