//! Messages: what happened, recorded once, whichever door it came by.

use bytes::Bytes;

use super::{ApplicationId, MessageId, SourceId, Time};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its own name; the `webhook-id` on every try.
    pub id: MessageId,
    /// Whose it is.
    pub application_id: ApplicationId,
    /// The name that its sender gave it; unique in the application.
    pub event_id: Option<String>,
    /// What kind of thing happened.
    pub event_type: String,
    /// The channels it is for; to endpoints with channels it goes only where one is shared.
    pub channels: Vec<String>,
    /// What the bytes are, as the sender said.
    pub content_type: String,
    /// The exact bytes to deliver.
    pub payload: Bytes,
    /// The source it came by; `None` for one sent over the API.
    pub source: Option<SourceId>,
    /// The provider's headers, passed on unchanged.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Why it was kept back from every endpoint, if so.
    pub quarantined: bool,
    /// When it was recorded.
    pub created_at: Time,
}

/// The memory that a source has seen an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The source that saw it.
    pub source_id: SourceId,
    /// The provider's name for the event.
    pub event_id: String,
    /// SHA-256 of the body, to tell a repeat from another event under the same name.
    pub digest: [u8; 32],
    /// The message that it became.
    pub message_id: MessageId,
    /// When it was seen first.
    pub received_at: Time,
    /// How often it was seen.
    pub seen: u32,
}
