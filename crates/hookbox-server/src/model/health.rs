//! How an endpoint fares, and how many tries in flight it is given for that.

use std::time::Duration;

use super::Time;

/// Failures in a row after which an endpoint is sick.
const SICK: u32 = 10;
/// How long an endpoint must do well before its tries in flight are doubled: from one to 32 in a minute.
const WINDOW: Duration = Duration::from_secs(12);
/// An endpoint that takes this long is slow.
const SLOW: Duration = Duration::from_secs(2);
/// Doublings after which nothing is held back any more.
const WHOLE: u32 = 10;

/// What a try told of its endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sign {
    /// It took the message.
    pub ok: bool,
    /// How long it needed.
    pub took: Duration,
}

/// How an endpoint fares; the default is one of which nothing bad is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Failures since the last success.
    failures: u32,
    slow: bool,
    /// It was sick, and is trusted with more and more again.
    ramp: Option<Ramp>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ramp {
    doublings: u32,
    /// When the present window began: with a success.
    since: Option<Time>,
}

impl Health {
    /// How it fares after one more try.
    #[must_use]
    pub fn after(self, sign: Sign, now: Time) -> Self {
        let slow = sign.took >= SLOW;
        if sign.ok {
            return Self {
                failures: 0,
                slow,
                ramp: self.ramp.and_then(|ramp| ramp.after_success(now)),
            };
        }
        let failures = self.failures.saturating_add(1);
        // Whoever comes back from an outage is forgiven less, so that one failed probe ends the trust.
        let forgiven = self.ramp.map_or(SICK, |ramp| ramp.cap().min(SICK));
        Self {
            failures,
            slow,
            ramp: if failures >= forgiven {
                Some(Ramp::default())
            } else {
                self.ramp
            },
        }
    }

    /// Tries in flight that it is given, of `most`.
    #[must_use]
    pub fn cap(self, most: usize) -> usize {
        let ramped = self
            .ramp
            .and_then(|ramp| usize::try_from(ramp.cap()).ok())
            .unwrap_or(most);
        ramped.min(most)
    }

    /// Whether its last answer took long, or did not come in time. What waits in line for such an endpoint
    /// only takes room from others.
    #[must_use]
    pub fn is_slow(self) -> bool {
        self.slow
    }
}

impl Ramp {
    fn cap(self) -> u32 {
        1 << self.doublings
    }

    fn after_success(self, now: Time) -> Option<Self> {
        match self.since {
            None => Some(Self {
                since: Some(now),
                ..self
            }),
            Some(since) if now.since(since) < WINDOW => Some(self),
            Some(_) if self.doublings + 1 >= WHOLE => None,
            Some(_) => Some(Self {
                doublings: self.doublings + 1,
                since: Some(now),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 32;

    fn step(health: &mut Health, ok: bool, second: i64) -> usize {
        let took = Duration::from_millis(50);
        *health = health.after(Sign { ok, took }, Time(second * 1000));
        health.cap(MOST)
    }

    #[test]
    fn ten_failures_in_a_row_leave_one_try_in_flight() {
        let mut health = Health::default();
        for failure in 1..=9 {
            assert_eq!(step(&mut health, false, failure), MOST, "{failure}");
        }
        assert_eq!(step(&mut health, true, 10), MOST);
        for failure in 1..=9 {
            assert_eq!(step(&mut health, false, 10 + failure), MOST, "{failure}");
        }
        assert_eq!(step(&mut health, false, 20), 1);
        assert_eq!(step(&mut health, false, 21), 1);
    }

    #[test]
    fn whoever_comes_back_is_trusted_with_twice_as_much_every_window() {
        // Seconds since the outage began, whether the try succeeded, tries in flight from then on.
        let table = [
            (100, true, 1),
            (111, true, 1),
            (112, true, 2),
            (113, true, 2),
            (124, true, 4),
            (136, true, 8),
            // Three failures among successes, and then a few in a row, fewer than its cap.
            (137, false, 8),
            (138, true, 8),
            (139, false, 8),
            (140, false, 8),
            (148, true, 16),
            (160, true, 32),
            (161, true, 32),
        ];
        let mut health = sick();
        for (second, ok, cap) in table {
            assert_eq!(step(&mut health, ok, second), cap, "{second}");
        }
    }

    #[test]
    fn an_endpoint_that_fails_again_begins_again() {
        let mut health = sick();
        for second in [100, 112, 124] {
            step(&mut health, true, second);
        }
        assert_eq!(health.cap(MOST), 4);
        let caps = [125, 126, 127, 128].map(|second| step(&mut health, false, second));
        assert_eq!(caps, [4, 4, 4, 1]);
        // One probe suffices now, and no window was kept.
        assert_eq!(step(&mut health, true, 200), 1);
        assert_eq!(step(&mut health, false, 230), 1);
        assert_eq!(step(&mut health, true, 231), 1);
    }

    #[test]
    fn nothing_is_held_against_it_in_the_end() {
        let mut health = sick();
        for window in 0..=10 {
            step(&mut health, true, 100 + window * 12);
        }
        assert_eq!(health, Health::default());
    }

    #[test]
    fn an_endpoint_is_as_slow_as_its_last_answer() {
        let of = |millis, ok| Sign {
            ok,
            took: Duration::from_millis(millis),
        };
        let mut health = Health::default();
        for (sign, slow) in [
            (of(1999, true), false),
            (of(14_000, true), true),
            (of(20, true), false),
            (of(15_000, false), true),
            (of(20, false), false),
        ] {
            health = health.after(sign, Time(0));
            assert_eq!(health.is_slow(), slow, "{sign:?}");
        }
    }

    fn sick() -> Health {
        let mut health = Health::default();
        for second in 0..10 {
            step(&mut health, false, second);
        }
        assert_eq!(health.cap(MOST), 1);
        health
    }
}
