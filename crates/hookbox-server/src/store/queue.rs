//! How full the queue is.

use std::time::Duration;

use crate::model::Time;

/// Deliveries of one state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// How many there are.
    pub count: u64,
    /// Since when the oldest of them waits; `None` when there is none.
    pub oldest: Option<Time>,
}

impl Waiting {
    /// How long the oldest waits at that time: nothing when there is none, or when its time has not come.
    #[must_use]
    pub fn age(&self, now: Time) -> Duration {
        self.oldest
            .map_or(Duration::ZERO, |oldest| now.since(oldest))
    }
}

/// The queue at one moment: every state that is not final, and dead letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueFigures {
    /// Scheduled, and their time has come: nobody has taken them yet. The oldest waits since its due time.
    pub due: Waiting,
    /// Scheduled for later; mostly further tries of what failed.
    pub scheduled: u64,
    /// Leased to a node, whether or not the lease has ended. The oldest is the lease that ends first: in the past
    /// only when its node let it run out and none has taken it up since.
    pub leased: Waiting,
    /// Held, since their endpoints are disabled. The oldest waits since its message came, which is before its
    /// endpoint was disabled or after.
    pub held: Waiting,
    /// Dead letters.
    pub dead: u64,
}

impl QueueFigures {
    /// How long the oldest delivery that a node could take waits: a due one, or one whose lease has ended.
    #[must_use]
    pub fn oldest_due_age(&self, now: Time) -> Duration {
        self.due.age(now).max(self.leased.age(now))
    }
}
