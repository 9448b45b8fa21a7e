//! How a command can fail, and what it exits with.

use crate::settings::Faults;

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// It did not work.
    #[error("{0}")]
    Failed(String),
    /// The server does not know what was named.
    #[error("{0}")]
    NotFound(String),
    /// The server does not know the token.
    #[error("{0}; set HOOKBOX_TOKEN to a token of `hookbox token create`")]
    NotAuthorized(String),
    /// There is no server.
    #[error("no server answers at {0}; start one with `hookbox serve`, or set HOOKBOX_URL")]
    NoServer(String),
}

impl Error {
    /// The exit code.
    pub(super) fn code(&self) -> u8 {
        match self {
            Self::Failed(_) => 1,
            Self::NotFound(_) => 3,
            Self::NotAuthorized(_) => 4,
            Self::NoServer(_) => 5,
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
