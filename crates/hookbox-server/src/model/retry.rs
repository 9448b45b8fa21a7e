//! When the next try is due: schedules, jitter and `Retry-After`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::Time;

/// The waits after the first, second, … failed try; when they are used up, the delivery is dead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule(Vec<Duration>);

/// The longest wait that a schedule or a `Retry-After` may ask for.
pub const LONGEST_WAIT: Duration = Duration::from_hours(24);
/// The most waits that a schedule may have.
pub const MOST_WAITS: usize = 50;

impl Schedule {
    /// For strangers' endpoints: the example schedule of the Standard Webhooks specification, ten tries
    /// over 75 hours.
    #[must_use]
    pub fn standard_webhooks() -> Self {
        const MINUTE: u64 = 60;
        const HOUR: u64 = 3600;
        Self(
            [
                5,
                5 * MINUTE,
                30 * MINUTE,
                2 * HOUR,
                5 * HOUR,
                10 * HOUR,
                14 * HOUR,
                20 * HOUR,
                24 * HOUR,
            ]
            .map(Duration::from_secs)
            .to_vec(),
        )
    }

    /// For the operator's own app: three retries, then a person looks.
    #[must_use]
    pub fn own_app() -> Self {
        Self([5, 30, 300].map(Duration::from_secs).to_vec())
    }

    /// When to try again after `failures` failed tries (1 or more), or `None` when the schedule is used up.
    ///
    /// `dice` in `0.0..1.0` spreads the wait by ±20 %. `retry_after`, as the receiver asked, can only
    /// delay, by 24 hours at most.
    #[must_use]
    pub fn next(
        &self,
        failures: u32,
        now: Time,
        dice: f64,
        retry_after: Option<Duration>,
    ) -> Option<Time> {
        let index = usize::try_from(failures).ok()?.checked_sub(1)?;
        let wait = self.0.get(index)?.mul_f64(0.8 + 0.4 * dice.clamp(0.0, 1.0));
        Some(now.plus(wait.max(retry_after.unwrap_or_default().min(LONGEST_WAIT))))
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, wait) in self.0.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            write!(
                f,
                "{comma}{}",
                humantime::format_duration(*wait)
                    .to_string()
                    .replace(' ', "")
            )?;
        }
        Ok(())
    }
}

/// Why a text is no schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// A part is not a duration.
    #[error("'{0}' is not a duration; write for example 5s, 30s or 5m")]
    NotADuration(String),
    /// A wait is longer than a day.
    #[error("'{0}' is longer than 24h")]
    TooLong(String),
    /// There are too many waits.
    #[error("a schedule has at most {MOST_WAITS} waits")]
    TooMany,
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    /// Reads `5s,30s,5m`. An empty text is no retry at all.
    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let parts: Vec<&str> = text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .collect();
        if parts.len() > MOST_WAITS {
            return Err(ScheduleError::TooMany);
        }
        let read = |part: &str| {
            let wait = humantime::parse_duration(part)
                .map_err(|_| ScheduleError::NotADuration(part.to_owned()))?;
            if wait > LONGEST_WAIT {
                Err(ScheduleError::TooLong(part.to_owned()))
            } else {
                Ok(wait)
            }
        };
        parts
            .into_iter()
            .map(read)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

/// Reads the value of a `Retry-After` header (RFC 9110, 10.2.3): seconds, or a date.
///
/// `None` for anything else; never more than 24 hours.
#[must_use]
pub fn retry_after(value: &str, now: Time) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds).min(LONGEST_WAIT));
    }
    let format = time::macros::format_description!(
        "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT"
    );
    let date = time::PrimitiveDateTime::parse(value, format)
        .ok()?
        .assume_utc();
    let at = Time(date.unix_timestamp().saturating_mul(1000));
    Some(at.since(now).min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(1_700_000_000_000);

    #[test]
    fn waits_one_after_the_other_then_ends() {
        let schedule: Schedule = "5s, 30s,5m".parse().unwrap();
        let wait = |failures| {
            schedule
                .next(failures, NOW, 0.5, None)
                .map(|at| at.since(NOW).as_secs())
        };
        assert_eq!(
            [wait(0), wait(1), wait(2), wait(3), wait(4)],
            [None, Some(5), Some(30), Some(300), None]
        );
        assert_eq!(schedule.to_string(), "5s,30s,5m");
        assert_eq!(Schedule::own_app(), schedule);
    }

    #[test]
    fn jitter_spreads_by_a_fifth() {
        let schedule: Schedule = "100s".parse().unwrap();
        let wait = |dice| {
            schedule
                .next(1, NOW, dice, None)
                .unwrap()
                .since(NOW)
                .as_secs()
        };
        assert_eq!(
            [wait(0.0), wait(0.5), wait(1.0), wait(7.0)],
            [80, 100, 120, 120]
        );
    }

    #[test]
    fn retry_after_only_delays() {
        let schedule: Schedule = "60s".parse().unwrap();
        let wait = |asked| {
            schedule
                .next(1, NOW, 0.5, Some(Duration::from_secs(asked)))
                .unwrap()
                .since(NOW)
                .as_secs()
        };
        assert_eq!(
            [wait(0), wait(10), wait(90), wait(999_999_999)],
            [60, 60, 90, 86_400]
        );
    }

    #[test]
    fn reads_retry_after() {
        let seconds = |value| retry_after(value, NOW).map(|wait| wait.as_secs());
        assert_eq!(seconds("120"), Some(120));
        assert_eq!(seconds(" 7 "), Some(7));
        assert_eq!(seconds("999999999"), Some(86_400));
        assert_eq!(seconds("Tue, 14 Nov 2023 22:14:20 GMT"), Some(60));
        assert_eq!(seconds("Mon, 13 Nov 2023 22:14:20 GMT"), Some(0));
        assert_eq!(seconds("Fri, 31 Dec 9999 23:59:59 GMT"), Some(86_400));
        for value in ["", "-1", "abc", "1.5", "99999999999999999999999999"] {
            assert_eq!(seconds(value), None, "{value}");
        }
    }

    #[test]
    fn refuses_what_is_no_schedule() {
        assert_eq!(
            "5s,x".parse::<Schedule>(),
            Err(ScheduleError::NotADuration("x".into()))
        );
        assert_eq!(
            "25h".parse::<Schedule>(),
            Err(ScheduleError::TooLong("25h".into()))
        );
        assert_eq!(
            vec!["1s"; 51].join(",").parse::<Schedule>(),
            Err(ScheduleError::TooMany)
        );
        assert_eq!(
            "".parse::<Schedule>().unwrap().next(1, NOW, 0.5, None),
            None
        );
    }

    #[test]
    fn the_default_schedule_spans_three_days() {
        let total: Duration = Schedule::standard_webhooks().0.iter().sum();
        assert_eq!(total.as_secs(), 75 * 3600 + 35 * 60 + 5);
    }
}
