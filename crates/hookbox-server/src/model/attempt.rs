//! Attempts: the history of tries. Nothing infers a state from it.

use bytes::Bytes;

use super::{AttemptId, EndpointId, MessageId, Time};

/// One try of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its own name.
    pub id: AttemptId,
    /// The message that was tried.
    pub message_id: MessageId,
    /// The endpoint it was tried to.
    pub endpoint_id: EndpointId,
    /// Where it went; the endpoint's address may change later.
    pub url: String,
    /// When it began.
    pub at: Time,
    /// How long it took, in milliseconds.
    pub duration_ms: u32,
    /// The status that the receiver answered; `None` when there was no answer.
    pub status: Option<u16>,
    /// The beginning of the answer's body, at most 16 KiB.
    pub response: Bytes,
    /// Why there was no answer: a stable code such as `timeout`.
    pub error: Option<String>,
    /// Whether the receiver took it.
    pub succeeded: bool,
    /// A person asked for it.
    pub manual: bool,
    /// Its result came after the lease was lost, and moved nothing.
    pub late: bool,
}
