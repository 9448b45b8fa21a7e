//! Whether it is our own network that fails, and not the endpoints: a rule, without any input or output.
//!
//! When this machine's network or resolver is down, every try fails, for everybody. Counted, such failures would
//! use up schedules that promise days to a receiver. So when many tries in a row, to several hosts, failed in a way
//! that may be our own fault, the network counts as down: results prove nothing, and one probe each second asks
//! whether it works again.

use std::collections::VecDeque;
use std::time::Duration;

use crate::egress::{Answer, Failure, FailureKind};
use crate::model::Time;

/// Doubtful tries in a row that make us doubt ourselves.
const STREAK: usize = 20;
/// They lie no further apart than this.
const WITHIN: Duration = Duration::from_mins(1);
/// Different hosts among them, when that many are in use.
const HOSTS: usize = 5;
/// A host is in use when it was tried so lately.
const IN_USE: Duration = Duration::from_mins(10);
/// The time from one probe to the next.
pub(super) const PROBE: Duration = Duration::from_secs(1);
/// After so long results count again, until the next streak: hosts that are gone for good may be all there are.
const LONGEST: Duration = Duration::from_mins(15);

/// What a try says about our own network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hint {
    /// It works: somebody out there spoke to us.
    Works,
    /// Perhaps it does not.
    Doubtful,
    /// Nothing.
    Nothing,
}

/// How the verdict over the network changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It is down.
    Down,
    /// It works again.
    Up,
    /// It was down for so long that results count all the same.
    TooLong,
}

/// What is known of the network.
#[derive(Debug, Default)]
pub(super) struct Network {
    /// The latest doubtful tries since the last that worked: when, and to which host.
    streak: VecDeque<(Time, u64)>,
    /// Hosts in use, so many as matter, and when each was tried last.
    hosts: Vec<(u64, Time)>,
    down: Option<Down>,
}

#[derive(Clone, Copy, Debug)]
struct Down {
    since: Time,
    next_probe: Time,
}

impl Hint {
    pub(super) fn of(outcome: &Result<Answer, Failure>) -> Self {
        match outcome {
            Ok(_) => Self::Works,
            Err(failure) => match failure.kind {
                FailureKind::ConnectRefused => Self::Works,
                FailureKind::NoResolver | FailureKind::Unreachable => Self::Doubtful,
                FailureKind::TargetRefused
                | FailureKind::Unsendable
                | FailureKind::Resolve
                | FailureKind::Connect
                | FailureKind::Tls
                | FailureKind::Timeout
                | FailureKind::Protocol => Self::Nothing,
            },
        }
    }
}

impl Network {
    /// Learns of a try to a host.
    pub(super) fn heard(&mut self, hint: Hint, host: u64, now: Time) -> Option<Change> {
        self.remember(host, now);
        match hint {
            Hint::Nothing => None,
            Hint::Works => {
                self.streak.clear();
                self.down.take().map(|_| Change::Up)
            }
            Hint::Doubtful => self.doubt(host, now),
        }
    }

    pub(super) fn is_down(&self) -> bool {
        self.down.is_some()
    }

    /// Whether a try may begin: any while the network works, else one each second.
    pub(super) fn may_try(&mut self, now: Time) -> bool {
        match &mut self.down {
            None => true,
            Some(down) if down.next_probe <= now => {
                down.next_probe = now.plus(PROBE);
                true
            }
            Some(_) => false,
        }
    }

    fn doubt(&mut self, host: u64, now: Time) -> Option<Change> {
        if let Some(down) = self.down {
            if now.since(down.since) < LONGEST {
                return None;
            }
            self.down = None;
            self.streak.clear();
            return Some(Change::TooLong);
        }
        self.streak.push_back((now, host));
        if self.streak.len() > STREAK {
            self.streak.pop_front();
        }
        if !self.is_our_fault(now) {
            return None;
        }
        self.down = Some(Down {
            since: now,
            next_probe: now.plus(PROBE),
        });
        Some(Change::Down)
    }

    fn is_our_fault(&self, now: Time) -> bool {
        let lately = |at: Time| now.since(at) <= WITHIN;
        let full =
            self.streak.len() == STREAK && self.streak.front().is_some_and(|(at, _)| lately(*at));
        let mut hosts: Vec<u64> = self.streak.iter().map(|(_, host)| *host).collect();
        hosts.sort_unstable();
        hosts.dedup();
        // One host alone proves nothing, even when there is no other.
        let needed = self.hosts.iter().filter(|(_, at)| now.since(*at) <= IN_USE);
        full && hosts.len() >= needed.count().clamp(2, HOSTS)
    }

    /// Keeps the hosts that were tried last.
    fn remember(&mut self, host: u64, now: Time) {
        if let Some(known) = self.hosts.iter_mut().find(|(known, _)| *known == host) {
            known.1 = now;
        } else if self.hosts.len() < HOSTS {
            self.hosts.push((host, now));
        } else if let Some(oldest) = self.hosts.iter_mut().min_by_key(|(_, at)| *at) {
            *oldest = (host, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries, one each `step` milliseconds, in turn over that many hosts.
    fn tries(
        network: &mut Network,
        hints: &[Hint],
        hosts: u64,
        start: i64,
        step: i64,
    ) -> Vec<Change> {
        let mut now = start;
        let mut changes = Vec::new();
        for (host, hint) in (0..hosts).cycle().zip(hints) {
            changes.extend(network.heard(*hint, host, Time(now)));
            now += step;
        }
        changes
    }

    #[test]
    fn only_a_long_streak_to_several_hosts_is_our_own_fault() {
        use Hint::{Doubtful as D, Nothing as N, Works as W};
        let long = |then: &[Hint]| [&[D; 19][..], then].concat();
        // hosts in use before, hints, hosts tried, milliseconds apart, whether the network is down by then
        let table = [
            (0, long(&[]), 5, 10, false),
            (0, long(&[D]), 5, 10, true),
            (0, long(&[N, D]), 5, 10, true),
            (0, long(&[W, D]), 5, 10, false),
            (0, long(&[D]), 4, 10, true),
            (0, long(&[D]), 2, 10, true),
            (0, long(&[D; 9]), 1, 10, false),
            (9, long(&[D]), 5, 10, true),
            (9, long(&[D; 9]), 4, 10, false),
            (3, long(&[D; 9]), 2, 10, false),
            (0, long(&[D]), 5, 3_000, true),
            (0, long(&[D; 9]), 5, 4_000, false),
        ];
        for (before, hints, hosts, step, down) in table {
            let mut network = Network::default();
            tries(&mut network, &vec![W; before], 9, 0, 1);
            let changes = tries(&mut network, &hints, hosts, 60_000, step);
            let case = format!(
                "{before} before, {} tries to {hosts}, {step} ms",
                hints.len()
            );
            assert_eq!(network.is_down(), down, "{case}");
            assert_eq!(changes.len(), usize::from(down), "{case}");
        }
    }

    #[test]
    fn while_it_is_down_there_is_one_probe_each_second_and_the_first_success_ends_it() {
        let mut network = Network::default();
        assert!(network.may_try(Time(0)) && network.may_try(Time(0)));
        let changes = tries(&mut network, &[Hint::Doubtful; 25], 5, 0, 1);
        assert_eq!(changes, [Change::Down]);
        let began: Vec<_> = (20..4_000)
            .filter(|at| network.may_try(Time(*at)))
            .collect();
        assert_eq!(began, [1_019, 2_019, 3_019]);
        assert_eq!(network.heard(Hint::Nothing, 1, Time(4_000)), None);
        assert!(network.is_down());
        assert_eq!(network.heard(Hint::Works, 1, Time(4_001)), Some(Change::Up));
        assert!(network.may_try(Time(4_001)) && network.may_try(Time(4_001)));
    }

    #[test]
    fn hosts_that_are_gone_for_good_do_not_keep_it_down() {
        let mut network = Network::default();
        tries(&mut network, &[Hint::Doubtful; 20], 2, 0, 0);
        let end = i64::try_from(LONGEST.as_millis()).unwrap();
        assert_eq!(network.heard(Hint::Doubtful, 1, Time(end - 1)), None);
        let ended = network.heard(Hint::Doubtful, 1, Time(end));
        assert_eq!((ended, network.is_down()), (Some(Change::TooLong), false));
        let again = tries(&mut network, &[Hint::Doubtful; 20], 2, end, 0);
        assert_eq!(again, [Change::Down]);
    }

    #[test]
    fn what_a_failure_says_of_our_own_network() {
        let of = |kind| {
            let mut failure = Failure::unsendable("");
            failure.kind = kind;
            Hint::of(&Err(failure))
        };
        for (kind, hint) in [
            (FailureKind::ConnectRefused, Hint::Works),
            (FailureKind::NoResolver, Hint::Doubtful),
            (FailureKind::Unreachable, Hint::Doubtful),
            (FailureKind::Resolve, Hint::Nothing),
            (FailureKind::Timeout, Hint::Nothing),
            (FailureKind::Protocol, Hint::Nothing),
        ] {
            assert_eq!(of(kind), hint, "{kind:?}");
        }
    }
}
