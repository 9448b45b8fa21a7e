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
/// How long to wait when the system gives no more connections.
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
    let (lent, returned) = parting::lend(stream);
    answer(lent, app, &stop).await;
    if let Ok(stream) = returned.await {
        // Who stops does not wait for peers that still send.
        let _ = stop.run_until_cancelled(parting::part(stream)).await;
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
