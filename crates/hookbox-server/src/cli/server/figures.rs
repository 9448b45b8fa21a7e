//! The queue's figures, asked of the store now and then and remembered in between.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::model::Clock;
use crate::store::{QueueFigures, Result, Store};

/// How long figures are good for.
const FRESH: Duration = Duration::from_secs(10);
/// Counting takes this part of the time at most, however long one count takes.
const SHARE: u32 = 50;
/// How long figures that are no longer good are shown while new ones are counted.
const STALE: Duration = Duration::from_secs(60);
/// How long whoever asks waits for new figures.
const PATIENCE: Duration = Duration::from_millis(500);

type Count = dyn Fn() -> Pin<Box<dyn Future<Output = Result<QueueFigures>> + Send>> + Send + Sync;

/// Remembers the figures of the queue. One count runs at a time, and nobody waits for a slow one.
#[derive(Clone)]
pub(super) struct Figures {
    count: Arc<Count>,
    seen: watch::Sender<Seen>,
    counting: Arc<AtomicBool>,
}

/// The last count.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Good until then; `None` before the first count.
    until: Option<Instant>,
    /// `None` when the store did not tell.
    figures: Option<QueueFigures>,
}

impl std::fmt::Debug for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Figures")
    }
}

impl Figures {
    /// Those of a store.
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self::counted(Arc::new(move || {
            let store = Arc::clone(&store);
            Box::pin(async move { store.queue(Clock.now()).await })
        }))
    }

    fn counted(count: Arc<Count>) -> Self {
        let unseen = Seen {
            until: None,
            figures: None,
        };
        Self {
            count,
            seen: watch::Sender::new(unseen),
            counting: Arc::default(),
        }
    }

    /// The figures; `None` when the store does not tell them.
    pub(super) async fn get(&self) -> Option<QueueFigures> {
        let mut seen = self.seen.subscribe();
        if is_good(&seen.borrow()) {
            return seen.borrow().figures;
        }
        if !self.counting.swap(true, Ordering::AcqRel) {
            tokio::spawn(self.clone().renew());
        }
        let good = tokio::time::timeout(PATIENCE, seen.wait_for(is_good)).await;
        if let Ok(seen) = good {
            return seen.ok()?.figures;
        }
        // A count of a long queue takes its time: a gap meanwhile would look as if something had broken.
        Some(*self.seen.borrow()).filter(is_not_stale)?.figures
    }

    async fn renew(self) {
        let began = Instant::now();
        let figures = (self.count)().await;
        let took = began.elapsed();
        if let Err(error) = &figures {
            tracing::warn!(%error, "the queue could not be counted");
        }
        self.seen.send_replace(Seen {
            until: Some(Instant::now() + FRESH.max(took * SHARE)),
            figures: figures.ok(),
        });
        self.counting.store(false, Ordering::Release);
    }
}

fn is_good(seen: &Seen) -> bool {
    seen.until.is_some_and(|until| Instant::now() < until)
}

fn is_not_stale(seen: &Seen) -> bool {
    seen.until.is_some_and(|until| until.elapsed() < STALE)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::store::Error;

    /// Figures of a store that answers so, and how often it was asked.
    fn figures(
        answer: impl Fn() -> Option<Result<QueueFigures>> + Send + Sync + 'static,
    ) -> (Figures, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let figures = Figures::counted(Arc::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
            match answer() {
                Some(answer) => Box::pin(std::future::ready(answer)),
                None => Box::pin(std::future::pending()),
            }
        }));
        (figures, asked)
    }

    async fn asked_thrice(figures: &Figures) -> Option<QueueFigures> {
        let (one, two) = tokio::join!(figures.get(), figures.get());
        assert_eq!(one, two);
        let three = figures.get().await;
        assert_eq!(two, three);
        three
    }

    #[tokio::test(start_paused = true)]
    async fn the_store_is_asked_once_for_all() {
        let one = QueueFigures {
            dead: 1,
            ..QueueFigures::default()
        };
        let (figures, asked) = figures(move || Some(Ok(one)));
        assert_eq!(asked_thrice(&figures).await, Some(one));
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_fails_or_hangs_is_asked_once_and_holds_nobody_up() {
        for answer in [Some(Err(Error::Unavailable("gone".into()))), None] {
            let (figures, asked) = figures(move || answer.clone());
            let began = tokio::time::Instant::now();
            assert_eq!(asked_thrice(&figures).await, None);
            assert!(began.elapsed() <= 3 * PATIENCE, "{:?}", began.elapsed());
            assert_eq!(asked.load(Ordering::Relaxed), 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_figures_stay_while_a_count_takes_its_time() {
        let (figures, _) = figures(|| None);
        let last = QueueFigures::default();
        figures.seen.send_replace(Seen {
            until: Some(Instant::now()),
            figures: Some(last),
        });
        assert_eq!(figures.get().await, Some(last));
    }
}
