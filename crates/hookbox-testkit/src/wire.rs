//! A wire that can be cut: what goes between two processes passes through here.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Whole,
    Silent,
    Cut,
}

/// What is done to the one connection that says all of some words, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// What said the last word reaches the other side, and the connection ends instead of bringing the answer that
    /// contains this.
    LosesAnswer(&'static str),
    /// What said the last word does not reach the other side, and the connection ends.
    LosesRequest,
    /// What said the last word reaches the other side. This side loses the connection at once; the other goes on as if
    /// nothing had happened.
    LosesConnection,
}

#[derive(Clone, Copy, Debug)]
struct Trap {
    words: &'static [&'static str],
    fate: Fate,
}

/// The trap that is set, until a connection falls into it.
type Trapped = Arc<Mutex<Option<Trap>>>;

/// Passes connections on to an address.
#[derive(Debug)]
pub struct Wire {
    address: SocketAddr,
    state: watch::Sender<State>,
    trap: Trapped,
    task: JoinHandle<()>,
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Wire {
    /// A wire to that address.
    ///
    /// # Panics
    /// When there is no port.
    pub async fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener
            .local_addr()
            .expect("a bound listener has an address");
        let state = watch::Sender::new(State::Whole);
        let trap = Trapped::default();
        let task = tokio::spawn(serve(
            listener,
            target,
            state.subscribe(),
            Arc::clone(&trap),
        ));
        Self {
            address,
            state,
            trap,
            task,
        }
    }

    /// Where it begins.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends every connection, and every new one at once.
    pub fn cut(&self) {
        self.state.send_replace(State::Cut);
    }

    /// Leaves every connection open, and lets nothing through.
    pub fn silence(&self) {
        self.state.send_replace(State::Silent);
    }

    /// Sets a trap for the next connection that says these words to the other side; each word within one write.
    pub fn trap(&self, words: &'static [&'static str], fate: Fate) {
        *lock(&self.trap) = Some(Trap { words, fate });
    }

    /// Whether the trap that was set last has been sprung.
    #[must_use]
    pub fn is_sprung(&self) -> bool {
        lock(&self.trap).is_none()
    }

    /// Lets everything through again.
    pub fn mend(&self) {
        self.state.send_replace(State::Whole);
    }
}

fn lock(trap: &Trapped) -> MutexGuard<'_, Option<Trap>> {
    trap.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(
    listener: TcpListener,
    target: SocketAddr,
    state: watch::Receiver<State>,
    trap: Trapped,
) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        if *state.borrow() != State::Cut {
            connections.spawn(connect(stream, target, state.clone(), Arc::clone(&trap)));
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "it stands for the network of the tests"
)]
async fn connect(
    near: TcpStream,
    target: SocketAddr,
    state: watch::Receiver<State>,
    trap: Trapped,
) {
    let Ok(far) = TcpStream::connect(target).await else {
        return;
    };
    // Small messages go back and forth; none waits for another.
    let _ = (near.set_nodelay(true), far.set_nodelay(true));
    let (near_read, near_write) = near.into_split();
    let (mut far_read, far_write) = far.into_split();
    let cut = {
        let mut state = state.clone();
        async move { drop(state.wait_for(|state| *state == State::Cut).await) }
    };
    let sprung = watch::Sender::new(None);
    let mut heard = 0;
    let there = pump(near_read, far_write, state.clone(), |bytes| {
        let mut trap = lock(&trap);
        if let Some(Trap { words, fate }) = *trap {
            let mut rest = bytes;
            while let Some(word) = words.get(heard) {
                let Some(at) = position(rest, word) else {
                    break;
                };
                rest = &rest[at + word.len()..];
                heard += 1;
            }
            if heard == words.len() {
                *trap = None;
                sprung.send_replace(Some(fate));
            }
        }
        match *sprung.borrow() {
            Some(Fate::LosesRequest) => Then::End,
            Some(Fate::LosesConnection) => Then::PassAndEnd,
            Some(Fate::LosesAnswer(_)) | None => Then::Pass,
        }
    });
    let back = pump(&mut far_read, near_write, state, |bytes| {
        match *sprung.borrow() {
            Some(Fate::LosesAnswer(answer)) if contains(bytes, answer) => Then::End,
            _ => Then::Pass,
        }
    });
    tokio::select! {
        () = cut => {}
        () = there => {}
        () = back => {}
    }
    if *sprung.borrow() == Some(Fate::LosesConnection) {
        let _ = tokio::io::copy(&mut far_read, &mut tokio::io::sink()).await;
    }
}

/// What becomes of what was read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Pass,
    PassAndEnd,
    End,
}

fn position(bytes: &[u8], word: &str) -> Option<usize> {
    bytes
        .windows(word.len())
        .position(|part| part == word.as_bytes())
}

fn contains(bytes: &[u8], word: &str) -> bool {
    word.is_empty() || position(bytes, word).is_some()
}

/// Copies until one side ends; waits while the wire is silent.
async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: OwnedWriteHalf,
    mut state: watch::Receiver<State>,
    mut judge: impl FnMut(&[u8]) -> Then,
) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count) = from.read(&mut buffer).await {
        let open = state.wait_for(|state| *state == State::Whole).await.is_ok();
        let bytes = &buffer[..count];
        if count == 0 || !open {
            return;
        }
        let then = judge(bytes);
        if then == Then::End || to.write_all(bytes).await.is_err() || then == Then::PassAndEnd {
            return;
        }
    }
}
