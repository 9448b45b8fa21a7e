//! What a node holds, and for whom: all the counting, without waiting or waking.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::pool::Pool;
use super::sick::Sick;
use super::{Limits, Want};
use crate::model::health::{Health, Sign};
use crate::model::{ApplicationId, EndpointId, Time};

/// The smallest line of an endpoint: a first try must fit in beside a retry.
const SHORTEST_LANE: usize = 2;

#[derive(Debug)]
pub(super) struct Board {
    limits: Limits,
    pub(super) open: bool,
    /// When something is due that nobody holds; the beginning of time when room came free for it.
    pub(super) due: Option<Time>,
    node: Pool,
    applications: HashMap<ApplicationId, Pool>,
    lanes: HashMap<EndpointId, Lane>,
    sick: Sick,
    /// For strangers' endpoints and for trusted ones: how many more may be taken, when that is held back.
    allowed: [Option<usize>; 2],
}

/// An endpoint's room.
#[derive(Debug)]
struct Lane {
    pool: Pool,
    /// Holds the number of tries in flight.
    gate: Arc<Semaphore>,
    cap: usize,
    /// Those of the gate, taken or not; more than the cap while tries end that began before it sank.
    permits: usize,
}

impl Board {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            open: true,
            due: None,
            node: Pool::new(limits.slots, limits.bytes),
            applications: HashMap::new(),
            lanes: HashMap::new(),
            sick: Sick::default(),
            allowed: [None; 2],
        }
    }

    /// Takes room for a delivery, if there is some. One that is just made is sent away when an older waits.
    pub(super) fn reserve(&mut self, want: &Want, just_made: bool) -> Option<Arc<Semaphore>> {
        if self.is_held_back(want) {
            return None;
        }
        let mut pools = self.pools(want);
        if just_made && pools.iter().any(|pool| pool.first_waits()) {
            return None;
        }
        if let Some(full) = pools.iter_mut().find(|pool| !pool.fits(want)) {
            full.send_away(want.retry);
            return None;
        }
        for pool in pools {
            pool.take(want);
        }
        if let Some(allowed) = &mut self.allowed[usize::from(want.trusted)] {
            *allowed -= 1;
        }
        self.lanes
            .get(&want.endpoint)
            .map(|lane| Arc::clone(&lane.gate))
    }

    /// How many such deliveries fit, their bytes aside. When none does, one counts as sent away.
    pub(super) fn room(&mut self, want: &Want) -> usize {
        if self.is_held_back(want) {
            return 0;
        }
        let allowed = self.allowed[usize::from(want.trusted)].unwrap_or(usize::MAX);
        let mut room = allowed;
        for pool in self.pools(want) {
            room = room.min(pool.room(want.retry));
            if room == 0 {
                pool.send_away(want.retry);
                return 0;
            }
        }
        room
    }

    /// Gives back what was taken; returns whether somebody waits who has room now.
    /// The next of that endpoint may be tried.
    pub(super) fn end_turn(&mut self, endpoint: EndpointId, turn: OwnedSemaphorePermit) {
        if let Some(lane) = self.lanes.get_mut(&endpoint) {
            lane.end_turn(Some(turn));
        }
    }

    pub(super) fn give_back(&mut self, want: &Want, turn: Option<OwnedSemaphorePermit>) -> bool {
        if let Some(lane) = self.lanes.get_mut(&want.endpoint) {
            lane.end_turn(turn);
        }
        let mut wake = false;
        for pool in self.pools(want) {
            wake |= pool.give_back(want);
        }
        if self
            .lanes
            .get(&want.endpoint)
            .is_some_and(|lane| lane.pool.is_idle())
        {
            self.lanes.remove(&want.endpoint);
        }
        if self
            .applications
            .get(&want.application)
            .is_some_and(Pool::is_idle)
        {
            self.applications.remove(&want.application);
        }
        wake
    }

    /// Forgets who was sent away: a claim begins, which finds them all again.
    pub(super) fn begin_claim(&mut self) {
        self.due = None;
        self.node.forget_waiting();
        self.applications.retain(|_, pool| {
            pool.forget_waiting();
            !pool.is_empty()
        });
        self.lanes.retain(|_, lane| {
            lane.pool.forget_waiting();
            !lane.pool.is_empty()
        });
    }

    /// Whether none of that kind fits, for anyone. If so, one counts as sent away.
    pub(super) fn is_full(&mut self, retry: bool) -> bool {
        let full = self.node.is_full(retry);
        if full {
            self.node.send_away(retry);
        }
        full || !self.open
    }

    /// Learns how a try went; the endpoint's room grows and shrinks with it.
    pub(super) fn tried(&mut self, endpoint: EndpointId, sign: Sign, now: Time) {
        let changed = self.sick.learn(endpoint, sign, now);
        if let (Some(health), Some(lane)) = (changed, self.lanes.get_mut(&endpoint)) {
            lane.resize(&self.limits, health);
        }
    }

    pub(super) fn allow(&mut self, trusted: bool, allowed: Option<usize>) {
        self.allowed[usize::from(trusted)] = allowed;
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.node.held_bytes()
    }

    pub(super) fn held(&self) -> usize {
        self.node.held()
    }

    fn is_held_back(&self, want: &Want) -> bool {
        !self.open || self.allowed[usize::from(want.trusted)] == Some(0)
    }

    /// Every room that the delivery takes, the largest first.
    fn pools(&mut self, want: &Want) -> [&mut Pool; 3] {
        let limits = &self.limits;
        let application = self
            .applications
            .entry(want.application)
            .or_insert_with(|| Pool::new(limits.application, limits.bytes_of_an_application()));
        let sick = &self.sick;
        let lane = self
            .lanes
            .entry(want.endpoint)
            .or_insert_with(|| Lane::new(limits, sick.health(want.endpoint)));
        [&mut self.node, application, &mut lane.pool]
    }
}

impl Lane {
    fn new(limits: &Limits, health: Health) -> Self {
        let cap = health.cap(limits.in_flight);
        Self {
            pool: Pool::new(length(limits, health), usize::MAX),
            gate: Arc::new(Semaphore::new(cap)),
            cap,
            permits: cap,
        }
    }

    fn resize(&mut self, limits: &Limits, health: Health) {
        self.pool.resize(length(limits, health));
        self.cap = health.cap(limits.in_flight);
        if self.cap > self.permits {
            self.gate.add_permits(self.cap - self.permits);
            self.permits = self.cap;
        } else {
            self.permits -= self.gate.forget_permits(self.permits - self.cap);
        }
    }

    /// The turn goes to the next in line, unless the cap sank since it was taken.
    fn end_turn(&mut self, turn: Option<OwnedSemaphorePermit>) {
        if let Some(turn) = turn
            && self.permits > self.cap
        {
            turn.forget();
            self.permits -= 1;
        }
    }
}

/// Deliveries that may be held for an endpoint. Those next in line bridge the time until the next claim,
/// which is nothing to a slow endpoint.
fn length(limits: &Limits, health: Health) -> usize {
    let cap = health.cap(limits.in_flight);
    let length = if health.is_slow() {
        cap
    } else {
        (cap * limits.lane).div_ceil(limits.in_flight.max(1))
    };
    length.max(SHORTEST_LANE).min(limits.lane)
}
