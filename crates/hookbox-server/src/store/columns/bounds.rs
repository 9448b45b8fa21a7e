//! Pages: the keys between which one lies, and what is made of the rows in between.

use crate::model::{ApplicationId, AttemptId, EndpointId, MessageId, Time, TokenId};
use crate::store::{Listing, MessageFilter, Page};

/// A key with a first and a last value that no row has.
pub(in crate::store) trait Key: Clone {
    fn first() -> Self;
    fn last() -> Self;
}

macro_rules! key {
    ($($id:ident),*) => { $(
        impl Key for $id {
            fn first() -> Self {
                Self([0; 16])
            }
            fn last() -> Self {
                Self([0xff; 16])
            }
        }
    )* };
}

key!(ApplicationId, EndpointId, MessageId, AttemptId, TokenId);

impl Key for (MessageId, EndpointId) {
    fn first() -> Self {
        (MessageId::first(), EndpointId::first())
    }
    fn last() -> Self {
        (MessageId::last(), EndpointId::last())
    }
}

impl Key for String {
    fn first() -> Self {
        Self::new()
    }
    fn last() -> Self {
        char::MAX.to_string()
    }
}

/// The keys between which a page lies, both excluded, and the direction to read in.
pub(in crate::store) struct Bounds<C> {
    pub(in crate::store) above: C,
    pub(in crate::store) below: C,
    /// From last to first.
    pub(in crate::store) down: bool,
    /// One more than asked for, to know whether there is more.
    pub(in crate::store) limit: u32,
}

impl<C: Key> Bounds<C> {
    pub(in crate::store) fn of(page: &Page<C>) -> Self {
        let down = page.descending != page.backwards;
        let edge = page.after.clone();
        let (above, below) = if down { (None, edge) } else { (edge, None) };
        Self {
            above: above.unwrap_or_else(C::first),
            below: below.unwrap_or_else(C::last),
            down,
            limit: page.limit + 1,
        }
    }

    /// A statement that is written ascending, in the direction of the page.
    pub(in crate::store) fn ordered(&self, sql: &str) -> String {
        if self.down {
            sql.replace(" ASC", " DESC")
        } else {
            sql.to_owned()
        }
    }
}

impl Bounds<MessageId> {
    /// Within the times of a filter: ids carry the time they were made.
    pub(in crate::store) fn within(mut self, filter: &MessageFilter) -> Self {
        if let Some(after) = filter.after {
            self.above = self
                .above
                .max(MessageId::first_at(Time(after.0.saturating_add(1))));
        }
        if let Some(before) = filter.before {
            self.below = self.below.min(MessageId::first_at(before));
        }
        self
    }
}

impl Bounds<AttemptId> {
    /// Within the times of a filter: ids carry the time they were made.
    pub(in crate::store) fn within(mut self, filter: &MessageFilter) -> Self {
        if let Some(after) = filter.after {
            self.above = self
                .above
                .max(AttemptId::first_at(Time(after.0.saturating_add(1))));
        }
        if let Some(before) = filter.before {
            self.below = self.below.min(AttemptId::first_at(before));
        }
        self
    }
}

/// Makes the page of what was read: at most the limit, in the list's order.
pub(in crate::store) fn listing<C, T>(page: &Page<C>, mut data: Vec<T>) -> Listing<T> {
    let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
    let more = data.len() > limit;
    data.truncate(limit);
    if page.backwards {
        data.reverse();
    }
    Listing { data, more }
}
