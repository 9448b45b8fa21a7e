//! The end of a connection: an answer that was given early still reaches a peer that is busy sending.
//!
//! Closing a socket that holds unread bytes resets it, and a reset overtakes the answer: a provider whose event is
//! too large would see a broken connection in place of the 413. So what still comes is read away for a while.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

/// For how long, and how much of it.
const PATIENCE: Duration = Duration::from_secs(5);
const MOST: usize = 64 * 1024 * 1024;

/// A stream that comes back when the server has done with it.
#[derive(Debug)]
pub(super) struct Lent {
    /// `None` only while it is dropped.
    stream: Option<TcpStream>,
    back: Option<oneshot::Sender<TcpStream>>,
}

/// Lends a stream; the other half gets it back.
pub(super) fn lend(stream: TcpStream) -> (Lent, oneshot::Receiver<TcpStream>) {
    let (back, returned) = oneshot::channel();
    let lent = Lent {
        stream: Some(stream),
        back: Some(back),
    };
    (lent, returned)
}

/// Says that nothing more is sent, and reads away what still comes.
pub(super) async fn part(mut stream: TcpStream) {
    let reading = async {
        stream.shutdown().await?;
        let mut away = vec![0; 16 * 1024];
        let mut left = MOST;
        while left > 0 {
            match stream.read(&mut away).await? {
                0 => break,
                read => left = left.saturating_sub(read),
            }
        }
        io::Result::Ok(())
    };
    // A peer that is gone already, or does not end, is left to the system.
    let _ = tokio::time::timeout(PATIENCE, reading).await;
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let (Some(stream), Some(back)) = (self.stream.take(), self.back.take()) {
            let _ = back.send(stream);
        }
    }
}

impl Lent {
    fn inner(&mut self) -> io::Result<Pin<&mut TcpStream>> {
        self.stream
            .as_mut()
            .map(Pin::new)
            .ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl AsyncRead for Lent {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.inner()?.poll_read(context, buffer)
    }
}

impl AsyncWrite for Lent {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.inner()?.poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.inner()?.poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner()?.poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner()?.poll_shutdown(context)
    }
}
