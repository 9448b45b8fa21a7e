//! Straight on: how a delivery goes from the store to the engine of the same node without a claim.
//!
//! The store asks for room before it leases a delivery to this node, and hands it over once the lease is
//! durable. The room is a [`Slot`]; whoever drops it gives the room back. There is room for so many
//! deliveries of a node, of an application and of an endpoint, each shared between first tries and retries
//! by one rule (`handoff/pool.rs`); so whoever is slow, sick or many fills its own room and nobody else's.

mod board;
mod pool;
mod sick;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc};

use self::board::Board;
use super::Work;
use crate::model::health::Sign;
use crate::model::{ApplicationId, Delivery, Endpoint, EndpointId, Message, Time};

/// How much a node holds at once.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Deliveries that are leased to the node.
    pub slots: usize,
    /// Bytes of their payloads.
    pub bytes: usize,
    /// Deliveries of one application, in flight or next in line. Its bytes have the same share.
    pub application: usize,
    /// Tries in flight to one endpoint.
    pub in_flight: usize,
    /// Deliveries leased for one endpoint, in flight or next in line.
    pub lane: usize,
}

impl Limits {
    fn bytes_of_an_application(&self) -> usize {
        (self.bytes / self.slots.max(1)).saturating_mul(self.application)
    }
}

/// What a delivery needs room for.
#[derive(Clone, Copy, Debug)]
pub struct Want {
    /// Whose it is.
    pub application: ApplicationId,
    /// Whom it is for.
    pub endpoint: EndpointId,
    /// Whether that is the operator's own.
    pub trusted: bool,
    /// Bytes of its payload.
    pub bytes: usize,
    /// Whether a try of it failed before.
    pub retry: bool,
}

impl Want {
    /// What this delivery needs.
    #[must_use]
    pub fn of(delivery: &Delivery, message: &Message, endpoint: &Endpoint) -> Self {
        Self {
            bytes: message.payload.len(),
            ..Self::any(endpoint, delivery.failures > 0)
        }
    }

    /// What some delivery to this endpoint needs at least.
    #[must_use]
    pub fn any(endpoint: &Endpoint, retry: bool) -> Self {
        Self {
            application: endpoint.application_id,
            endpoint: endpoint.id,
            trusted: endpoint.trusted,
            bytes: 0,
            retry,
        }
    }
}

/// The room of a node, shared by its store and its engine.
#[derive(Clone, Debug)]
pub struct Handoff {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    lease: Duration,
    board: Mutex<Board>,
    engine: mpsc::UnboundedSender<Work>,
    wake: Notify,
}

impl Handoff {
    /// A node's room, and where its engine receives work.
    #[must_use]
    pub fn new(limits: Limits) -> (Self, mpsc::UnboundedReceiver<Work>) {
        Self::with_lease(limits, super::LEASE)
    }

    /// The same, with another time for which the node keeps what it takes.
    #[must_use]
    pub fn with_lease(limits: Limits, lease: Duration) -> (Self, mpsc::UnboundedReceiver<Work>) {
        let (engine, receiver) = mpsc::unbounded_channel();
        let shared = Shared {
            lease,
            board: Mutex::new(Board::new(limits)),
            engine,
            wake: Notify::new(),
        };
        let shared = Arc::new(shared);
        (Self { shared }, receiver)
    }

    /// A node that takes no work: one without an engine.
    #[must_use]
    pub fn closed() -> Self {
        Self::new(Limits {
            slots: 0,
            bytes: 0,
            application: 0,
            in_flight: 0,
            lane: 0,
        })
        .0
    }

    /// When a lease that begins then ends.
    #[must_use]
    pub fn lease_end(&self, from: Time) -> Time {
        from.plus(self.shared.lease)
    }

    /// Takes room for a delivery just made, if there is some and nothing older waits for it. Without, the
    /// engine is woken when some comes free.
    #[must_use]
    pub fn reserve_new(&self, want: Want) -> Option<Slot> {
        self.take(want, true)
    }

    /// Takes room for a delivery, if there is some. Without, the engine is woken when some comes free.
    #[must_use]
    pub fn reserve(&self, want: Want) -> Option<Slot> {
        self.take(want, false)
    }

    fn take(&self, want: Want, just_made: bool) -> Option<Slot> {
        let gate = self.board().reserve(&want, just_made)?;
        Some(Slot {
            handoff: self.clone(),
            want,
            gate,
            turn: None,
        })
    }

    /// For how many such deliveries there is room, their bytes aside. If for none, the engine is woken when
    /// some comes free. A claim reads no more than that and one, which it is then refused.
    #[must_use]
    pub fn room(&self, want: &Want) -> usize {
        self.board().room(want)
    }

    /// Whether no first try, or no retry, can be reserved for any endpoint now. If so, the engine is woken when
    /// room comes free.
    #[must_use]
    pub fn is_full(&self, retry: bool) -> bool {
        self.board().is_full(retry)
    }

    /// Gives durable work to the engine.
    pub fn hand_over(&self, work: Work) {
        // Without an engine the slot is dropped here, and the lease runs out.
        let _ = self.shared.engine.send(work);
    }

    /// Forgets what was left waiting; called as a claim begins, which finds it all again.
    pub fn begin_claim(&self) {
        self.board().begin_claim();
    }

    /// Something is due then that nobody holds.
    pub fn due_at(&self, at: Time) {
        let mut board = self.board();
        if board.due.is_none_or(|known| at < known) {
            board.due = Some(at);
            drop(board);
            self.shared.wake.notify_one();
        }
    }

    /// When something is due next, as far as this node knows.
    #[must_use]
    pub fn next_due(&self) -> Option<Time> {
        self.board().due
    }

    /// Waits until [`Self::next_due`] may have become earlier, or the node was closed.
    pub async fn woken(&self) {
        self.shared.wake.notified().await;
    }

    /// From now on takes only so many more deliveries to trusted endpoints, or to strangers'; `None` ends
    /// that.
    pub fn allow(&self, trusted: bool, deliveries: Option<usize>) {
        self.board().allow(trusted, deliveries);
        self.due_at(Time::default());
    }

    /// Takes no more work.
    pub fn close(&self) {
        self.board().open = false;
        self.shared.wake.notify_one();
    }

    /// Deliveries that the node holds.
    #[must_use]
    pub fn held(&self) -> usize {
        self.board().held()
    }

    /// Bytes of their payloads.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.board().held_bytes()
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.shared
            .board
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Room for one delivery; given back when dropped.
#[derive(Debug)]
pub struct Slot {
    handoff: Handoff,
    want: Want,
    gate: Arc<Semaphore>,
    turn: Option<OwnedSemaphorePermit>,
}

impl Slot {
    /// Waits for its turn at the endpoint, first come first served, and keeps it: so many are in flight at
    /// once as the endpoint's health allows.
    pub async fn turn(&mut self) {
        if self.turn.is_none() {
            self.turn = Arc::clone(&self.gate).acquire_owned().await.ok();
        }
    }

    /// The try is over, and the next of that endpoint may begin while its result is written.
    pub fn end_turn(&mut self) {
        if let Some(turn) = self.turn.take() {
            self.handoff.board().end_turn(self.want.endpoint, turn);
        }
    }

    /// Says how the try went, for the endpoint's health.
    pub fn tried(&self, sign: Sign, now: Time) {
        self.handoff.board().tried(self.want.endpoint, sign, now);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if self.handoff.board().give_back(&self.want, self.turn.take()) {
            self.handoff.due_at(Time::default());
        }
    }
}

#[cfg(test)]
mod tests;
