//! Room for so many deliveries, and the rule of who gets it.

use super::Want;

/// When half of a room or more is taken, one delivery in so many may be a retry.
const ONE_RETRY_IN: usize = 5;

/// Room for so many deliveries: those of a node, of an application or of an endpoint.
///
/// First tries may take all of it. Retries share it while less than half is taken; beyond that they hold a
/// fifth. So what failed before never keeps out what is new; and one retry fits always, so that neither
/// keeps out the other for ever.
#[derive(Debug)]
pub(super) struct Pool {
    most: usize,
    most_bytes: usize,
    held: usize,
    retries: usize,
    bytes: usize,
    /// A first try was sent away since the last claim began.
    first_waits: bool,
    /// A retry was.
    retry_waits: bool,
}

impl Pool {
    pub(super) fn new(most: usize, most_bytes: usize) -> Self {
        Self {
            most,
            most_bytes,
            held: 0,
            retries: 0,
            bytes: 0,
            first_waits: false,
            retry_waits: false,
        }
    }

    /// Bytes of what is held.
    pub(super) fn held_bytes(&self) -> usize {
        self.bytes
    }

    /// How many more fit, their bytes aside.
    pub(super) fn room(&self, retry: bool) -> usize {
        let free = self.most.saturating_sub(self.held);
        if !retry || self.most == 0 {
            return free;
        }
        let of_share = self.share().saturating_sub(self.retries);
        let of_half = (self.most / 2).saturating_sub(self.held);
        let first_of_its_kind = usize::from(self.retries == 0);
        free.min(of_share.max(of_half)).max(first_of_its_kind)
    }

    /// Whether it fits. One always does when there is no other, however large it is.
    pub(super) fn fits(&self, want: &Want) -> bool {
        let alone = self.held == 0 || (want.retry && self.retries == 0);
        self.room(want.retry) > 0 && (alone || self.bytes + want.bytes <= self.most_bytes)
    }

    pub(super) fn take(&mut self, want: &Want) {
        self.held += 1;
        self.retries += usize::from(want.retry);
        self.bytes += want.bytes;
    }

    /// Gives back what was taken. Returns whether somebody waits and has room now: so much that it is worth
    /// a claim.
    pub(super) fn give_back(&mut self, want: &Want) -> bool {
        self.held -= 1;
        self.retries -= usize::from(want.retry);
        self.bytes -= want.bytes;
        let half_free = self.held <= self.most / 2;
        let retries_gone = want.retry && self.retries <= self.share() / 2;
        (half_free && (self.first_waits || self.retry_waits)) || (retries_gone && self.retry_waits)
    }

    /// Remembers that somebody was sent away.
    pub(super) fn send_away(&mut self, retry: bool) {
        if retry {
            self.retry_waits = true;
        } else {
            self.first_waits = true;
        }
    }

    /// Whether a first try was sent away, which comes before one that is just made.
    pub(super) fn first_waits(&self) -> bool {
        self.first_waits
    }

    /// Forgets who was sent away.
    pub(super) fn forget_waiting(&mut self) {
        self.first_waits = false;
        self.retry_waits = false;
    }

    /// Whether nothing is left to remember.
    pub(super) fn is_idle(&self) -> bool {
        self.held == 0 && !self.first_waits && !self.retry_waits
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// Whether none of that kind fits, however small.
    pub(super) fn is_full(&self, retry: bool) -> bool {
        let alone = retry && self.retries == 0;
        self.room(retry) == 0 || (!alone && self.bytes >= self.most_bytes)
    }

    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// What is held beyond the new size stays.
    pub(super) fn resize(&mut self, most: usize) {
        self.most = most;
    }

    fn share(&self) -> usize {
        (self.most / ONE_RETRY_IN).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::handoff::tests::{SLOW, want};

    fn pool(most: usize, firsts: usize, retries: usize) -> Pool {
        let mut pool = Pool::new(most, usize::MAX);
        for number in 0..firsts + retries {
            pool.take(&Want {
                retry: number >= firsts,
                ..want(SLOW, 1)
            });
        }
        pool
    }

    #[test]
    fn first_tries_come_before_retries_and_neither_keeps_the_other_out() {
        // size, first tries held, retries held, room for first tries, room for retries
        let table = [
            (20, 0, 0, 20, 10),
            (20, 0, 9, 11, 1),
            (20, 0, 10, 10, 0),
            (20, 5, 5, 10, 0),
            (20, 9, 0, 11, 4),
            (20, 12, 0, 8, 4),
            (20, 12, 3, 5, 1),
            (20, 12, 4, 4, 0),
            (20, 18, 0, 2, 2),
            (20, 20, 0, 0, 1),
            (20, 20, 1, 0, 0),
            (4, 0, 0, 4, 2),
            (4, 2, 1, 1, 0),
            (2, 0, 0, 2, 1),
            (2, 0, 1, 1, 0),
            (1, 0, 0, 1, 1),
            (1, 1, 0, 0, 1),
            (0, 0, 0, 0, 0),
        ];
        for (most, firsts, retries, first_room, retry_room) in table {
            let pool = pool(most, firsts, retries);
            let room = (pool.room(false), pool.room(true));
            let case = format!("{firsts} + {retries} of {most}");
            assert_eq!(room, (first_room, retry_room), "{case}");
        }
    }

    #[test]
    fn whoever_was_sent_away_is_told_when_a_claim_is_worth_it() {
        let (first, retry) = (
            want(SLOW, 1),
            Want {
                retry: true,
                ..want(SLOW, 1)
            },
        );
        let mut full = pool(4, 4, 0);
        full.send_away(false);
        let told: Vec<_> = (0..3).map(|_| full.give_back(&first)).collect();
        assert_eq!(told, [false, true, true]);

        let mut shared = pool(20, 14, 4);
        shared.send_away(true);
        let told: Vec<_> = (0..2).map(|_| shared.give_back(&retry)).collect();
        assert_eq!(told, [false, true]);
        assert!(!shared.give_back(&first), "no retry gained room by it");

        let mut quiet = pool(4, 4, 0);
        assert!(!(0..4).any(|_| quiet.give_back(&first)), "nobody waits");
    }
}
