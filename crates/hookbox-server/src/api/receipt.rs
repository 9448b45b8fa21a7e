//! Receipts: which events a source has seen.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use serde::Serialize;

use super::asked::At;
use super::page::{Order, list, page};
use super::query::Query;
use super::{Answer, Api, Shared};
use crate::model::{MessageId, Receipt, Time};

pub(super) fn routes() -> Router<Arc<Api>> {
    Router::new().route("/api/v1/source/{source}/receipt", get(list_all))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReceiptOut<'a> {
    event_id: &'a str,
    digest: String,
    message_id: MessageId,
    received_at: Time,
    seen: u32,
}

impl<'a> ReceiptOut<'a> {
    fn of(receipt: &'a Receipt) -> Self {
        Self {
            event_id: &receipt.event_id,
            digest: hex::encode(receipt.digest),
            message_id: receipt.message_id,
            received_at: receipt.received_at,
            seen: receipt.seen,
        }
    }
}

async fn list_all(State(api): Shared, At([name]): At<1>, query: Query) -> Answer {
    let page = page(&query, Order::Descending, |text| text.parse().ok())?;
    let source = api.store.source(&name).await?.id;
    let listing = api.store.receipts(source, page).await?;
    let data = listing.data.iter().map(ReceiptOut::of).collect();
    list(&listing, |receipt| receipt.message_id.to_string(), data)
}
