//! What a process says.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// What a process writes to its terminal, gathered over restarts.
#[derive(Clone, Default)]
pub(super) struct Log {
    text: Arc<Mutex<String>>,
    readers: Arc<Mutex<Vec<tokio::task::JoinHandle<()>>>>,
}

impl Log {
    pub(super) fn follow(&self, stream: impl AsyncRead + Send + Unpin + 'static) {
        let text = Arc::clone(&self.text);
        let reader = tokio::spawn(async move {
            let mut lines = BufReader::new(stream).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let mut text = text.lock().unwrap_or_else(PoisonError::into_inner);
                text.push_str(&line);
                text.push('\n');
            }
        });
        self.readers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(reader);
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
        self.text
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
