//! How fast messages arrive, at any time of a run.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hookbox_testkit::Sink;
use tokio::task::JoinHandle;

const LOOK: Duration = Duration::from_millis(100);
/// What a rate is taken over, so that a single stutter is no fault and no recovery.
const WINDOW: Duration = Duration::from_secs(1);

/// Looks at a receiver as long as it lives.
pub(super) struct Pace {
    seen: Arc<Mutex<Vec<(Instant, usize)>>>,
    looking: JoinHandle<()>,
}

impl Drop for Pace {
    fn drop(&mut self) {
        self.looking.abort();
    }
}

impl Pace {
    pub(super) fn of(sink: &Arc<Sink>) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (sink, notes) = (Arc::clone(sink), Arc::clone(&seen));
        let looking = tokio::spawn(async move {
            let mut ticks = tokio::time::interval(LOOK);
            loop {
                let now = ticks.tick().await.into_std();
                let count = sink.count();
                let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
                notes.push((now, count));
            }
        });
        Self { seen, looking }
    }

    /// Arrivals in a second, between two moments.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub(super) fn rate(&self, from: Instant, to: Instant) -> f64 {
        let count = self.count(to).saturating_sub(self.count(from));
        count as f64 / to.duration_since(from).as_secs_f64()
    }

    /// How long after that moment the rate is this high again.
    pub(super) fn back(&self, from: Instant, rate: f64) -> Option<Duration> {
        let seen = self
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let (last, _) = *seen.last()?;
        let mut moments = seen.iter().map(|(at, _)| *at).filter(|at| *at >= from);
        let high = |at: &Instant| *at + WINDOW <= last && self.rate(*at, *at + WINDOW) >= rate;
        let at = moments.find(high)?;
        Some(at.duration_since(from))
    }

    /// How many had arrived then.
    fn count(&self, at: Instant) -> usize {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let after = seen.partition_point(|(moment, _)| *moment <= at);
        seen[..after].last().map_or(0, |(_, count)| *count)
    }
}
