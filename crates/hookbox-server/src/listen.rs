//! The accept loop: takes connections within bounds, and ends them in an orderly way.

mod parting;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Connections at once. Further ones wait in the system's queue.
const CONNECTIONS: usize = 4096;
/// How long the head of a request may take.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of a request's head.
const HEAD_BYTES: usize = 64 * 1024;
/// Headers of a request.
const HEADERS: usize = 100;
/// What an HTTP/2 connection begins with.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// How long to wait when the system gives no more connections, and between two looks at an unfinished preface.
const BREATHER: Duration = Duration::from_millis(50);

/// Serves until `stop`, then lets requests under way end for at most `patience`.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    stop: CancellationToken,
    patience: Duration,
) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accept(&listener, &places) => accepted,
        };
        match accepted {
            Ok((stream, place)) => {
                let (app, stop) = (app.clone(), stop.clone());
                connections.spawn(async move {
                    converse(stream, app, stop).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::timeout(BREATHER, stop.cancelled()).await.ok();
            }
        }
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(patience, connections.wait())
        .await
        .is_err()
    {
        tracing::warn!(open = connections.len(), "connections were cut off");
    }
}

async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> std::io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(places)
        .acquire_owned()
        .await
        .map_err(std::io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, place))
}

async fn converse(stream: TcpStream, app: Router, stop: CancellationToken) {
    // Without this, a small answer may wait for the peer's acknowledgement.
    let _ = stream.set_nodelay(true);
    let spoken = tokio::time::timeout(HEAD_PATIENCE, speaks(&stream, &stop));
    if stop.run_until_cancelled(spoken).await != Some(Ok(true)) {
        return;
    }
    let (lent, returned) = parting::lend(stream);
    answer(lent, app, &stop).await;
    if let Ok(stream) = returned.await {
        // Who stops does not wait for peers that still send.
        let _ = stop.run_until_cancelled(parting::part(stream)).await;
    }
}

/// Waits for the peer to say which HTTP it speaks; whether it did.
///
/// hyper's own timeouts begin only then, so without this a silent peer would keep its place for ever.
async fn speaks(stream: &TcpStream, stop: &CancellationToken) -> bool {
    let mut head = [0; PREFACE.len()];
    loop {
        match stream.peek(&mut head).await {
            Ok(0) | Err(_) => return false,
            Ok(n) if n == PREFACE.len() || !PREFACE.starts_with(&head[..n]) => return true,
            // What is already there makes every further look return at once.
            Ok(_) => drop(tokio::time::timeout(BREATHER, stop.cancelled()).await),
        }
    }
}

async fn answer(stream: parting::Lent, app: Router, stop: &CancellationToken) {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES)
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(100)
        .max_header_list_size(65_536)
        .keep_alive_interval(Some(Duration::from_secs(30)));
    let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(app));
    tokio::pin!(connection);
    let mut stopping = false;
    loop {
        tokio::select! {
            _ended = connection.as_mut() => return,
            () = stop.cancelled(), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::task::JoinHandle;

    use super::*;

    const SLOW: Duration = Duration::from_millis(100);

    async fn server() -> (SocketAddr, CancellationToken, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let slow = get(|| async {
            let never = CancellationToken::new();
            let _ = tokio::time::timeout(SLOW, never.cancelled()).await;
            "done"
        });
        let app = Router::new().route("/slow", slow);
        let stop = CancellationToken::new();
        let served = serve(listener, app, stop.clone(), Duration::from_secs(5));
        (address, stop, tokio::spawn(served))
    }

    async fn sent(address: SocketAddr, bytes: &[u8]) -> TcpStream {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        let mut stream = socket.connect(address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream
    }

    async fn rest(mut stream: TcpStream) -> String {
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text).await;
        text
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_does_not_say_what_it_speaks_is_let_go() {
        let (address, _stop, _served) = server().await;
        for bytes in [&b""[..], b"PRI", b"GET / HT"] {
            let silent = rest(sent(address, bytes).await);
            let ended = tokio::time::timeout(2 * HEAD_PATIENCE, silent).await;
            assert_eq!(ended, Ok(String::new()), "{bytes:?}");
        }
    }

    #[tokio::test]
    async fn a_stop_ends_idle_connections_and_waits_for_answers() {
        let (address, stop, served) = server().await;
        let silent = sent(address, b"").await;
        let idle = sent(address, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
        let busy = sent(address, b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await;
        idle.readable().await.unwrap();
        stop.cancel();
        let (_, idle, busy) = tokio::join!(rest(silent), rest(idle), rest(busy));
        assert!(idle.starts_with("HTTP/1.1 404"), "{idle}");
        assert!(busy.ends_with("done"), "{busy}");
        let ended = tokio::time::timeout(Duration::from_secs(4), served).await;
        assert!(ended.is_ok_and(|ended| ended.is_ok()));
    }
}
