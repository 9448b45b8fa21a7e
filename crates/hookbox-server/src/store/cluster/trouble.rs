//! What can go wrong inside a transaction.

use crate::store::Error;

/// The outcome of a step of a transaction.
pub(super) type Tried<T> = Result<T, Trouble>;

/// Why a step did not succeed.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Another transaction was in the way: a deadlock, a lost race for a key. The whole transaction may be tried
    /// again at once, and then sees what the other wrote.
    Again(String),
    /// The connection was lost or took too long while the commit was under way: it may have happened or not.
    Unknown(String),
    /// It cannot succeed as asked.
    Is(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Is(error)
    }
}

impl Trouble {
    /// As the caller of the store sees it.
    pub(super) fn into_error(self) -> Error {
        match self {
            Self::Again(why) => {
                Error::Unavailable(format!("other transactions were in the way: {why}"))
            }
            Self::Unknown(why) => {
                Error::Unavailable(format!("whether it was written is unknown: {why}"))
            }
            Self::Is(error) => error,
        }
    }
}
