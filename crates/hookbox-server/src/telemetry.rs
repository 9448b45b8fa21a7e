//! The log: lines on standard error, as JSON unless a person reads them.

use std::io::{self, IsTerminal as _, Write};

use tracing_subscriber::EnvFilter;

/// How the log looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// For people.
    Text,
    /// A JSON object for each line.
    Json,
}

/// Standard error that nobody may be reading: what cannot be written is dropped.
struct Forgiving;

impl Write for Forgiving {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = io::stderr().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = io::stderr().flush();
        Ok(())
    }
}

/// Starts logging. A second call changes nothing.
pub fn start(filter: &str, format: LogFormat) {
    let terminal = io::stderr().is_terminal();
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| Forgiving)
        .with_ansi(terminal);
    let json = format == LogFormat::Json || (format == LogFormat::Auto && !terminal);
    let _ = if json {
        log.json().flatten_event(true).try_init()
    } else {
        log.try_init()
    };
}
