//! What a process says.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What a process writes to its terminal, gathered over restarts.
#[derive(Clone, Default)]
pub(super) struct Log {
    text: watch::Sender<String>,
    readers: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Log {
    pub(super) fn follow(&self, stream: impl AsyncRead + Send + Unpin + 'static) {
        let text = self.text.clone();
        let reader = tokio::spawn(async move {
            let mut lines = BufReader::new(stream).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                text.send_modify(|text| {
                    text.push_str(&line);
                    text.push('\n');
                });
            }
        });
        self.readers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(reader);
    }

    /// Waits until something was said that often.
    pub(super) async fn says(&self, what: &str, times: usize) {
        let often = |text: &String| text.matches(what).count() >= times;
        let mut text = self.text.subscribe();
        // The sender is ours, so it is not gone.
        let _ = text.wait_for(often).await;
    }

    /// Waits until what an ended process wrote has been read.
    pub(super) async fn ended(&self) {
        let readers =
            std::mem::take(&mut *self.readers.lock().unwrap_or_else(PoisonError::into_inner));
        for reader in readers {
            let _ = reader.await;
        }
    }

    pub(super) fn text(&self) -> String {
        self.text.borrow().clone()
    }
}
