//! What the server tells of itself: its log, and its [`metrics`].
//!
//! The log is lines on standard error, as JSON unless a person reads them.
//!
//! A thread of its own writes them, so that a reader that hangs holds nobody up: lines that find the queue full are
//! dropped, and so are those that nobody reads any more.

pub mod metrics;

use std::io::{self, IsTerminal as _, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use tracing_subscriber::EnvFilter;

/// Lines that may wait to be written.
const QUEUE: usize = 4096;
/// How long whoever is about to end waits for its last lines.
const PATIENCE: Duration = Duration::from_millis(500);

/// How the log looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// For people.
    Text,
    /// A JSON object for each line.
    Json,
}

enum Entry {
    Line(Vec<u8>),
    /// Everything before this is written when its sender is dropped.
    Mark(SyncSender<()>),
}

/// The way to the thread that writes.
#[derive(Clone)]
struct Queue(SyncSender<Entry>);

impl Write for Queue {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.try_send(Entry::Line(bytes.to_vec()));
        if std::thread::panicking() {
            // The process may be about to end.
            self.written();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Queue {
    /// Waits until what was queued is written, for a while.
    fn written(&self) {
        let (mark, written) = sync_channel(0);
        if self.0.try_send(Entry::Mark(mark)).is_ok() {
            let _ = written.recv_timeout(PATIENCE);
        }
    }
}

/// A log that runs; dropping it writes what still waits.
pub struct Log(Option<Queue>);

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Log")
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if let Some(queue) = &self.0 {
            queue.written();
        }
    }
}

/// Starts logging. A second call changes nothing.
#[must_use = "the log is written until this is dropped"]
pub fn start(filter: &str, format: LogFormat) -> Log {
    let terminal = io::stderr().is_terminal();
    let (sender, lines) = sync_channel(QUEUE);
    let writer = std::thread::Builder::new().name("log".to_owned());
    if writer.spawn(move || write(&lines, io::stderr())).is_err() {
        return Log(None);
    }
    let queue = Queue(sender);
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let each = queue.clone();
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(move || each.clone());
    let json = format == LogFormat::Json || (format == LogFormat::Auto && !terminal);
    let _ = match (json, terminal) {
        (true, _) => log.json().flatten_event(true).try_init(),
        // Its default has colours unless NO_COLOR is set.
        (false, true) => log.try_init(),
        (false, false) => log.with_ansi(false).try_init(),
    };
    Log(Some(queue))
}

fn write(lines: &Receiver<Entry>, mut to: impl Write) {
    for entry in lines {
        match entry {
            Entry::Line(line) => drop(to.write_all(&line).and_then(|()| to.flush())),
            Entry::Mark(mark) => drop(mark),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A reader that went away.
    struct Gone;

    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_hangs_holds_nobody_up() {
        let (sender, unread) = sync_channel(1);
        for _ in 0..3 {
            assert_eq!(Queue(sender.clone()).write(b"line\n").unwrap(), 5);
        }
        drop(unread);
        assert_eq!(Queue(sender).write(b"line\n").unwrap(), 5);
    }

    /// What was written.
    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn last_words_are_written_before_they_end() {
        struct LastWord(Queue, Paper);

        impl Drop for LastWord {
            fn drop(&mut self) {
                self.0.write_all(b"the end").unwrap();
                assert_eq!(*self.1.0.lock().unwrap(), b"the end");
            }
        }

        let (sender, lines) = sync_channel(9);
        let paper = Paper::default();
        let word = LastWord(Queue(sender), paper.clone());
        std::thread::spawn(move || write(&lines, paper));
        let panicked = std::thread::spawn(move || {
            let _word = word;
            panic!("on purpose");
        });
        assert!(panicked.join().is_err());
    }

    #[test]
    fn the_end_waits_for_what_is_queued_even_when_nobody_reads() {
        let (sender, lines) = sync_channel(9);
        let mut queue = Queue(sender);
        queue.write_all(b"line\n").unwrap();
        let writer = std::thread::spawn(move || write(&lines, Gone));
        drop(Log(Some(queue)));
        writer.join().unwrap();
    }
}
