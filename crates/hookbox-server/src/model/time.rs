//! Moments, and the clock that tells them.
//!
//! Everything that needs the time is handed a [`Time`] or a [`Clock`]; nothing asks the system itself.

use std::fmt;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A moment, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    /// The moment `wait` later; stays at the end of time instead of overflowing.
    #[must_use]
    pub fn plus(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(millis(wait)))
    }

    /// The moment `wait` earlier.
    #[must_use]
    pub fn minus(self, wait: Duration) -> Self {
        Self(self.0.saturating_sub(millis(wait)))
    }

    /// How long after `earlier` this is; zero when it is not after it.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Whole seconds since 1970, as signatures carry them.
    #[must_use]
    pub fn unix_seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Reads an RFC 3339 moment such as `2026-11-30T12:00:00Z`; the zone is required.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let moment = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        i64::try_from(moment.unix_timestamp_nanos() / 1_000_000)
            .ok()
            .map(Self)
    }
}

fn millis(wait: Duration) -> i64 {
    i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)
}

impl fmt::Display for Time {
    /// RFC 3339 in UTC with milliseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .unwrap_or(OffsetDateTime::UNIX_EPOCH);
        let (date, at) = (moment.date(), moment.time());
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            date.year(),
            u8::from(date.month()),
            date.day(),
            at.hour(),
            at.minute(),
            at.second(),
            at.millisecond()
        )
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Tells the time.
///
/// On a database that nodes share the time is the database's, so that nodes whose own clocks differ agree on what
/// is due: see [`Clock::follow`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock;

/// Milliseconds to add to the time since [`STARTED`]; [`ALONE`] while no other clock is followed.
static AHEAD: AtomicI64 = AtomicI64::new(ALONE);
const ALONE: i64 = i64::MIN;
/// A moment that no step of the system's clock moves.
static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Clock {
    /// The present moment.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that asks the system"
    )]
    pub fn now(self) -> Time {
        let ahead = AHEAD.load(Ordering::Relaxed);
        if ahead != ALONE {
            return Time(ahead.saturating_add(millis(STARTED.elapsed())));
        }
        let since = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        Time(millis(since))
    }

    /// Follows another clock that shows `now`, from here on by the time that passes, not by the system's clock.
    pub fn follow(self, now: Time) {
        let ahead = now.0.saturating_sub(millis(STARTED.elapsed()));
        AHEAD.store(ahead, Ordering::Relaxed);
    }

    /// Waits until `at`; returns at once when that has passed.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that sleeps"
    )]
    pub async fn sleep_until(self, at: Time) {
        tokio::time::sleep(at.since(self.now())).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_and_reads_rfc_3339() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Time(millis).to_string(), text);
            assert_eq!(Time::parse(text), Some(Time(millis)));
        }
        assert_eq!(
            Time::parse("2023-11-14T23:13:20.123+01:00"),
            Some(Time(1_700_000_000_123))
        );
        for text in ["", "2023-11-14", "2023-11-14T22:13:20", "now", "9999999999"] {
            assert_eq!(Time::parse(text), None, "{text}");
        }
    }

    #[test]
    fn never_overflows() {
        assert_eq!(Time(i64::MAX).plus(Duration::MAX), Time(i64::MAX));
        assert_eq!(Time(5).since(Time(9)), Duration::ZERO);
    }
}
