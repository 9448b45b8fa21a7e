//! Straight on: how a delivery goes from the store to the engine of the same node without a claim.
//!
//! The store asks for room before it leases a delivery to this node, and hands it over once the lease is
//! durable. The room is a [`Slot`]; whoever drops it gives the room back. Limits are per endpoint, so that a
//! slow one fills its own room and nobody else's, and per node, in number and in bytes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore, mpsc};

use super::Work;
use crate::model::{EndpointId, Time};

/// How much a node holds at once.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Deliveries that are leased to the node.
    pub slots: usize,
    /// Bytes of their payloads.
    pub bytes: usize,
    /// Tries in flight to one endpoint.
    pub in_flight: usize,
    /// Deliveries leased for one endpoint, in flight or next in line.
    pub lane: usize,
}

/// The room of a node, shared by its store and its engine.
#[derive(Clone, Debug)]
pub struct Handoff {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    limits: Limits,
    lease: Duration,
    board: Mutex<Board>,
    engine: mpsc::UnboundedSender<Work>,
    wake: Notify,
}

#[derive(Debug)]
struct Board {
    open: bool,
    slots: usize,
    bytes: usize,
    /// The node was full when something was due.
    full: bool,
    lanes: HashMap<EndpointId, Lane>,
    /// When something is due that nobody holds; the beginning of time when room came free for it.
    due: Option<Time>,
}

#[derive(Debug)]
struct Lane {
    pending: usize,
    /// Something was due to this endpoint when its lane was full.
    backlog: bool,
    gate: Arc<Semaphore>,
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
        let board = Board {
            open: true,
            slots: 0,
            bytes: 0,
            full: false,
            lanes: HashMap::new(),
            due: None,
        };
        (
            Self {
                shared: Arc::new(Shared {
                    limits,
                    lease,
                    board: Mutex::new(board),
                    engine,
                    wake: Notify::new(),
                }),
            },
            receiver,
        )
    }

    /// A node that takes no work: one without an engine.
    #[must_use]
    pub fn closed() -> Self {
        Self::new(Limits {
            slots: 0,
            bytes: 0,
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
    pub fn reserve_new(&self, endpoint: EndpointId, bytes: usize) -> Option<Slot> {
        let waiting = self
            .board()
            .lanes
            .get(&endpoint)
            .is_some_and(|lane| lane.backlog);
        if waiting {
            None
        } else {
            self.reserve(endpoint, bytes)
        }
    }

    /// Takes room for a delivery, if there is some. Without, the engine is woken when some comes free.
    #[must_use]
    pub fn reserve(&self, endpoint: EndpointId, bytes: usize) -> Option<Slot> {
        let limits = self.shared.limits;
        let mut board = self.board();
        if !board.open {
            return None;
        }
        // One delivery always fits, however large it is.
        if board.slots >= limits.slots || (board.slots > 0 && board.bytes + bytes > limits.bytes) {
            board.full = true;
            return None;
        }
        let lane = board.lanes.entry(endpoint).or_insert_with(|| Lane {
            pending: 0,
            backlog: false,
            gate: Arc::new(Semaphore::new(limits.in_flight)),
        });
        if lane.pending >= limits.lane {
            lane.backlog = true;
            return None;
        }
        lane.pending += 1;
        let gate = Arc::clone(&lane.gate);
        board.slots += 1;
        board.bytes += bytes;
        Some(Slot {
            handoff: self.clone(),
            endpoint,
            bytes,
            gate,
        })
    }

    /// Whether nothing can be reserved for any endpoint now. If so, the engine is woken when room comes free.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let mut board = self.board();
        let limits = self.shared.limits;
        let full = board.slots >= limits.slots || board.bytes >= limits.bytes;
        board.full |= full;
        full || !board.open
    }

    /// Gives durable work to the engine.
    pub fn hand_over(&self, work: Work) {
        // Without an engine the slot is dropped here, and the lease runs out.
        let _ = self.shared.engine.send(work);
    }

    /// Forgets what was left waiting; called as a claim begins, which finds it all again.
    pub fn begin_claim(&self) {
        let mut board = self.board();
        board.full = false;
        board.due = None;
        board.lanes.retain(|_, lane| {
            lane.backlog = false;
            lane.pending > 0
        });
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

    /// Takes no more work.
    pub fn close(&self) {
        self.board().open = false;
        self.shared.wake.notify_one();
    }

    /// Deliveries that the node holds.
    #[must_use]
    pub fn held(&self) -> usize {
        self.board().slots
    }

    /// Bytes of their payloads.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.board().bytes
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.shared
            .board
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn give_back(&self, endpoint: EndpointId, bytes: usize) {
        let mut board = self.board();
        board.slots -= 1;
        board.bytes -= bytes;
        let half = self.shared.limits.lane / 2;
        let mut wake = board.full && board.slots <= self.shared.limits.slots / 2;
        if let Some(lane) = board.lanes.get_mut(&endpoint) {
            lane.pending -= 1;
            wake |= lane.backlog && lane.pending <= half;
            if lane.pending == 0 && !lane.backlog {
                board.lanes.remove(&endpoint);
            }
        }
        if wake {
            board.due = Some(Time::default());
            drop(board);
            self.shared.wake.notify_one();
        }
    }
}

/// Room for one delivery; given back when dropped.
#[derive(Debug)]
pub struct Slot {
    handoff: Handoff,
    endpoint: EndpointId,
    bytes: usize,
    gate: Arc<Semaphore>,
}

impl Slot {
    /// The turnstile of the endpoint: holds the number of tries in flight at its cap, first come first served.
    #[must_use]
    pub fn gate(&self) -> Arc<Semaphore> {
        Arc::clone(&self.gate)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.handoff.give_back(self.endpoint, self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        slots: 4,
        bytes: 100,
        in_flight: 1,
        lane: 2,
    };
    const SLOW: EndpointId = EndpointId([1; 16]);
    const OTHER: EndpointId = EndpointId([2; 16]);

    #[test]
    fn one_endpoint_cannot_take_the_room_of_another() {
        let (handoff, _engine) = Handoff::new(LIMITS);
        let slow: Vec<_> = (0..9).filter_map(|_| handoff.reserve(SLOW, 1)).collect();
        assert_eq!(slow.len(), 2);
        assert!(handoff.reserve(OTHER, 1).is_some());
    }

    #[test]
    fn bytes_are_bounded_but_one_always_fits() {
        let (handoff, _engine) = Handoff::new(LIMITS);
        let huge = handoff.reserve(SLOW, 1_000_000);
        assert!(huge.is_some());
        assert!(handoff.reserve(OTHER, 1).is_none());
        drop(huge);
        assert!(handoff.reserve(OTHER, 60).is_some_and(|_held| true));
        let held = handoff.reserve(OTHER, 60);
        assert!(held.is_some() && handoff.reserve(SLOW, 60).is_none());
    }

    #[tokio::test]
    async fn room_that_comes_free_wakes_whoever_waits_for_it() {
        let (handoff, _engine) = Handoff::new(LIMITS);
        let held: Vec<_> = (0..3).map(|_| handoff.reserve(SLOW, 1)).collect();
        assert!(held[2].is_none());
        drop(held);
        handoff.woken().await;
        assert_eq!(handoff.held(), 0);
    }

    #[test]
    fn a_closed_node_takes_nothing() {
        assert!(Handoff::closed().reserve(SLOW, 0).is_none());
        let (handoff, _engine) = Handoff::new(LIMITS);
        handoff.close();
        assert!(handoff.reserve(SLOW, 0).is_none());
    }
}
