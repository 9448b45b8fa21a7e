//! The time of the tests: real, and read here only.

use std::future::Future;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a test waits for what must happen. Far longer than it takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Seconds since 1970.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "signed events carry the real time"
)]
pub fn unix_now() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("the clock is past 1970");
    i64::try_from(since.as_secs()).expect("seconds fit into i64")
}

/// Waits; only for another process's port, as a receiver that is slow on purpose, or as a sender that comes again.
#[expect(
    clippy::disallowed_methods,
    reason = "what happens in another process sends no signal"
)]
pub async fn pause(duration: Duration) {
    tokio::time::sleep(duration).await;
}

/// Asks again and again until the answer is `Some`, for what another process does in its own time.
///
/// # Panics
/// When it does not happen within [`PATIENCE`].
pub async fn eventually<T, F>(what: &str, ask: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    match in_time(ask).await {
        Some(answer) => answer,
        None => panic!("waited {} s in vain: {what}", PATIENCE.as_secs()),
    }
}

/// Asks again and again until the answer is `Some`; `None` when it is not within [`PATIENCE`].
pub async fn in_time<T, F>(ask: impl FnMut() -> F) -> Option<T>
where
    F: Future<Output = Option<T>>,
{
    within(PATIENCE, ask).await
}

/// Asks again and again until the answer is `Some`; `None` when it is not within that time.
pub async fn within<T, F>(patience: Duration, mut ask: impl FnMut() -> F) -> Option<T>
where
    F: Future<Output = Option<T>>,
{
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            pause(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(patience, asking).await.ok()
}
