//! What is kept for how long.

use std::time::Duration;

use crate::model::{MessageId, Time};

/// What is kept for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Messages with their payloads, attempts and what became of their deliveries, dead letters too.
    pub messages: Duration,
    /// The memory that a source has seen an event. Longer than messages: a sender may repeat an event whose
    /// payload is gone.
    pub receipts: Duration,
}

impl Retention {
    /// The first id of a message that is kept.
    pub(super) fn first_kept(&self, now: Time) -> MessageId {
        MessageId::first_at(now.minus(self.messages))
    }
}

/// What one round of upkeep removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Messages, with all that belongs to them. In a database that keeps days in tables of their own, whole days
    /// are not counted by message.
    pub messages: u64,
    /// Whole days of messages.
    pub days: u64,
    /// Days that are over but have deliveries that are not settled: they stay until those are.
    pub days_kept: u64,
    /// Receipts.
    pub receipts: u64,
    /// Idempotency keys.
    pub keys: u64,
    /// There is more to remove at once.
    pub more: bool,
}
