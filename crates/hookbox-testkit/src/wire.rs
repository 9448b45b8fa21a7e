//! A wire that can be cut: what goes between two processes passes through here.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Whole,
    Silent,
    Cut,
}

/// Passes connections on to an address.
#[derive(Debug)]
pub struct Wire {
    address: SocketAddr,
    state: watch::Sender<State>,
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
        let task = tokio::spawn(serve(listener, target, state.subscribe()));
        Self {
            address,
            state,
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

    /// Lets everything through again.
    pub fn mend(&self) {
        self.state.send_replace(State::Whole);
    }
}

async fn serve(listener: TcpListener, target: SocketAddr, state: watch::Receiver<State>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        if *state.borrow() != State::Cut {
            connections.spawn(connect(stream, target, state.clone()));
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "it stands for the network of the tests"
)]
async fn connect(near: TcpStream, target: SocketAddr, state: watch::Receiver<State>) {
    let Ok(far) = TcpStream::connect(target).await else {
        return;
    };
    // Small messages go back and forth; none waits for another.
    let _ = (near.set_nodelay(true), far.set_nodelay(true));
    let (near_read, near_write) = near.into_split();
    let (far_read, far_write) = far.into_split();
    let cut = {
        let mut state = state.clone();
        async move { drop(state.wait_for(|state| *state == State::Cut).await) }
    };
    let there = pump(near_read, far_write, state.clone());
    let back = pump(far_read, near_write, state);
    tokio::select! {
        () = cut => {}
        () = there => {}
        () = back => {}
    }
}

/// Copies until one side ends; waits while the wire is silent.
async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut state: watch::Receiver<State>) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count) = from.read(&mut buffer).await {
        let open = state.wait_for(|state| *state == State::Whole).await.is_ok();
        if count == 0 || !open || to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
