//! Which part of a list is wanted, and what of it.

use crate::model::{EndpointId, MessageId, Time};

/// Which part of a list is wanted.
#[derive(Clone, Debug)]
pub struct Page<C> {
    /// How many; 1 to 250.
    pub limit: u32,
    /// Start behind this one.
    pub after: Option<C>,
    /// Go towards the beginning of the list from `after`. The answer keeps the list's order.
    pub backwards: bool,
    /// The list's order: newest (or last by name) first.
    pub descending: bool,
}

/// A part of a list.
#[derive(Clone, Debug)]
pub struct Listing<T> {
    /// The entries, in the list's order.
    pub data: Vec<T>,
    /// There are more in the direction asked for.
    pub more: bool,
}

/// Which messages are wanted; every part that is set must hold.
#[derive(Clone, Debug, Default)]
pub struct MessageFilter {
    /// Made before then.
    pub before: Option<Time>,
    /// Made after then.
    pub after: Option<Time>,
    /// For this channel.
    pub channel: Option<String>,
    /// Of one of these types.
    pub event_types: Option<Vec<String>>,
}

/// Which attempts are wanted; every part that is set must hold.
#[derive(Clone, Debug, Default)]
pub struct AttemptFilter {
    /// Of this message.
    pub message: Option<MessageId>,
    /// To this endpoint.
    pub endpoint: Option<EndpointId>,
    /// That succeeded, or failed.
    pub succeeded: Option<bool>,
    /// Answered with this hundred: 100 to 500; 0 for no answer.
    pub status_class: Option<u16>,
    /// Whose messages hold to this.
    pub messages: MessageFilter,
}

/// Which dead letters are meant; every part that is set must hold.
#[derive(Clone, Debug, Default)]
pub struct DeadFilter {
    /// Of this message.
    pub message: Option<MessageId>,
    /// To this endpoint.
    pub endpoint: Option<EndpointId>,
}
