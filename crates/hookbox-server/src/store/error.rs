//! What can go wrong with storage.

/// Shorthand for results of the store.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call to the store did not do what was asked. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no such thing, or it is another's.
    #[error("{0} not found")]
    NotFound(&'static str),
    /// A name is taken.
    #[error("{0}")]
    Conflict(&'static str),
    /// A filter names event types that do not exist.
    #[error("unknown event types: {}", .0.join(", "))]
    UnknownEventTypes(Vec<String>),
    /// This request was answered before; this is the answer.
    #[error("answered before")]
    Repeated {
        /// Its status.
        status: u16,
        /// Its body.
        body: Vec<u8>,
    },
    /// The idempotency key was used for another request.
    #[error("the idempotency-key was used for a different request")]
    KeyReused,
    /// The change asked for is not valid: where, and what is wrong.
    #[error("{at}: {problem}")]
    Invalid {
        /// The field.
        at: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// The database cannot be reached or written now.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// What the database holds cannot be understood: another key, another version, or damage.
    #[error("the database holds what this version cannot read: {0}")]
    Unreadable(String),
}
