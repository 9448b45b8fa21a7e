//! The memory of endpoints that do not fare well. It outlives their lanes, and is bounded.

use std::collections::HashMap;

use crate::model::health::{Health, Sign};
use crate::model::{EndpointId, Time};

/// Endpoints remembered. Of more, those not heard of for longest are taken for healthy.
const MOST: usize = 10_000;

/// The endpoints that do not fare well.
#[derive(Debug, Default)]
pub(super) struct Sick {
    known: HashMap<EndpointId, (Health, Time)>,
}

impl Sick {
    pub(super) fn health(&self, endpoint: EndpointId) -> Health {
        self.known
            .get(&endpoint)
            .map(|(health, _)| *health)
            .unwrap_or_default()
    }

    /// Learns of a try; returns how the endpoint fares, if that is no longer as it was.
    pub(super) fn learn(&mut self, endpoint: EndpointId, sign: Sign, now: Time) -> Option<Health> {
        let before = self.health(endpoint);
        let after = before.after(sign, now);
        if after == Health::default() {
            self.known.remove(&endpoint);
        } else {
            self.known.insert(endpoint, (after, now));
            if self.known.len() > MOST {
                self.forget_half();
            }
        }
        (after != before).then_some(after)
    }

    fn forget_half(&mut self) {
        let mut times: Vec<Time> = self.known.values().map(|(_, at)| *at).collect();
        let middle = times.len() / 2;
        let (_, median, _) = times.select_nth_unstable(middle);
        let median = *median;
        self.known.retain(|_, (_, at)| *at > median);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_memory_is_bounded_and_keeps_the_latest() {
        let mut sick = Sick::default();
        let failed = Sign {
            ok: false,
            took: Duration::ZERO,
        };
        let endpoint = |number: usize| {
            let mut id = [0; 16];
            id[..8].copy_from_slice(&number.to_be_bytes());
            EndpointId(id)
        };
        for number in 0..=MOST {
            let now = Time(i64::try_from(number).unwrap());
            sick.learn(endpoint(number), failed, now);
        }
        assert!(sick.known.len() <= MOST / 2);
        assert_eq!(sick.health(endpoint(0)), Health::default());
        assert_ne!(sick.health(endpoint(MOST)), Health::default());
    }

    #[test]
    fn the_healthy_are_not_remembered() {
        let mut sick = Sick::default();
        let endpoint = EndpointId([1; 16]);
        for ok in [false, true] {
            let took = Duration::ZERO;
            assert!(sick.learn(endpoint, Sign { ok, took }, Time(0)).is_some());
        }
        assert!(sick.known.is_empty());
    }
}
