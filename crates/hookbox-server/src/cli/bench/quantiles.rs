//! Quantiles of what was measured: exact, from all values.

use serde::Serialize;

/// Milliseconds that so many of all values did not exceed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Quantiles {
    pub(super) p50: f64,
    pub(super) p90: f64,
    pub(super) p99: f64,
    pub(super) max: f64,
}

impl Quantiles {
    /// Of values in microseconds; zeros when there are none.
    pub(super) fn of(mut micros: Vec<u64>) -> Self {
        micros.sort_unstable();
        let at = |percent| millis(nearest_rank(&micros, percent));
        Self {
            p50: at(50),
            p90: at(90),
            p99: at(99),
            max: at(100),
        }
    }
}

impl std::fmt::Display for Quantiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { p50, p90, p99, max } = self;
        write!(
            f,
            "p50 {p50:.2} ms, p90 {p90:.2} ms, p99 {p99:.2} ms, max {max:.2} ms"
        )
    }
}

/// The smallest value that at least so many percent do not exceed.
fn nearest_rank(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted
        .get(rank.saturating_sub(1))
        .copied()
        .unwrap_or_default()
}

fn millis(micros: u64) -> f64 {
    // A latency that does not fit is longer than an hour.
    f64::from(u32::try_from(micros).unwrap_or(u32::MAX)) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let found = Quantiles::of((1..=1000).rev().map(|n| n * 1000).collect());
        let expected = Quantiles {
            p50: 500.0,
            p90: 900.0,
            p99: 990.0,
            max: 1000.0,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn few_values_and_none() {
        assert_eq!(Quantiles::of(Vec::new()), Quantiles::default());
        let one = Quantiles::of(vec![1_500]);
        assert_eq!([one.p50, one.p90, one.p99, one.max], [1.5; 4]);
        let two = Quantiles::of(vec![9_000, 1_000]);
        assert_eq!([two.p50, two.p90, two.p99, two.max], [1.0, 9.0, 9.0, 9.0]);
    }
}
