//! How a command can fail, and what it exits with.

use crate::settings::Faults;

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// It did not work.
    #[error("{0}")]
    Failed(String),
    /// It was asked for in a way that cannot be done.
    #[error("{0}")]
    Usage(String),
    /// The server does not know what was named.
    #[error("{0}")]
    NotFound(String),
    /// The server does not know the token.
    #[error("{0}; set HOOKBOX_TOKEN to a token of `hookbox token create`")]
    NotAuthorized(String),
    /// There is no server.
    #[error("no server answers at {0}; start one with `hookbox serve`, or set HOOKBOX_URL")]
    NoServer(String),
    /// A signal cut it short: this one.
    #[error("stopped at once; what was under way is tried again at the next start")]
    Cut(u8),
    /// A signal ended what keeps nothing: this one.
    #[error("stopped before the end")]
    Stopped(u8),
}

impl Error {
    /// The exit code.
    pub(super) fn code(&self) -> u8 {
        match self {
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
            Self::NotFound(_) => 3,
            Self::NotAuthorized(_) => 4,
            Self::NoServer(_) => 5,
            Self::Cut(signal) | Self::Stopped(signal) => 128 + signal,
        }
    }
}

impl From<Faults> for Error {
    fn from(faults: Faults) -> Self {
        Self::Failed(faults.to_string())
    }
}

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(format!("{error:#}"))
    }
}
