//! Telling the other nodes that something waits.
//!
//! `PostgreSQL` only, and never inside the transaction that writes: a `NOTIFY` there makes all commits wait for
//! each other. A wake-up that is lost costs no more than the engine's poll, for it claims once a second anyway.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_postgres::AsyncMessage;

use super::sql::sql;
use super::transaction::{Pool, reading};
use super::{Shared, postgres};
use crate::model::Clock;
use crate::store::Result;

/// At most one wake-up in this time: one is enough for all that became due meanwhile.
const PAUSE: Duration = Duration::from_millis(50);
/// How long to wait before listening again after the connection was lost.
const AGAIN: Duration = Duration::from_secs(1);

/// Tells the other nodes.
#[derive(Default)]
pub(super) struct Wake(Notify);

impl Wake {
    /// Something became due that this node did not take.
    pub(super) fn others(&self) {
        self.0.notify_one();
    }
}

async fn pause(wait: Duration) {
    Clock.sleep_until(Clock.now().plus(wait)).await;
}

/// Passes wake-ups on, as long as the store lives.
pub(super) async fn tell(shared: Arc<Shared>) {
    loop {
        shared.wake.0.notified().await;
        if let Err(error) = notify(&shared.pages, &shared.node).await {
            tracing::debug!(%error, "other nodes were not woken; they look once a second");
        }
        pause(PAUSE).await;
    }
}

async fn notify(pages: &Pool, node: &str) -> Result<()> {
    reading!(pages, |read| read
        .query(sql!("wake"), &[node.into()])
        .await
        .map(|_| ()))
}

/// Hears the wake-ups of other nodes, as long as the store lives.
pub(super) async fn listen(shared: Arc<Shared>, config: tokio_postgres::Config) {
    loop {
        if let Err(error) = hear(&shared, &config).await {
            tracing::debug!(%error, "wake-ups of other nodes are not heard; this one looks once a second");
        }
        pause(AGAIN).await;
    }
}

async fn hear(shared: &Arc<Shared>, config: &tokio_postgres::Config) -> anyhow::Result<()> {
    let (client, mut connection) = config.connect(postgres::tls()?).await?;
    let (handoff, node) = (shared.handoff.clone(), shared.node.clone());
    let listening = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(async move {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            match message? {
                AsyncMessage::Notification(said) if said.payload() != node => {
                    handoff.due_at(Clock.now());
                }
                _ => {}
            }
        }
        Ok::<_, tokio_postgres::Error>(())
    }));
    client.batch_execute("LISTEN hookbox").await?;
    listening.await??;
    Ok(())
}
