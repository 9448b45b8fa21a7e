//! Databases that many nodes share: `PostgreSQL`, and `MySQL` or `MariaDB`.
//!
//! The database is the queue. Nothing that a node keeps in memory is trusted without asking the database for
//! its revision in the same transaction, and every lease is fenced. All times are the database's: the clock of
//! the process follows it, so that nodes whose own clocks differ agree on what is due.

mod applications;
mod claim;
mod contract;
mod deliveries;
mod diagnose;
mod doors;
mod endpoints;
mod event_types;
mod known;
mod line;
mod messages;
mod mysql;
mod once;
mod open;
mod plan;
mod postgres;
mod record;
mod routes;
mod schema;
mod settle;
mod sources;
mod sql;
mod transaction;
mod trouble;
mod upkeep;
mod wake;

use std::sync::{Arc, Mutex};

use tokio_util::task::AbortOnDropHandle;

pub use self::diagnose::diagnose;
use self::doors::Doors;
use self::line::Line;
pub use self::open::{OpenError, migrate};
use self::routes::Routes;
use self::transaction::Pool;
use self::wake::Wake;
use super::Handoff;
use super::seal::Sealer;
use crate::model::EndpointId;

/// Everything in a database that other nodes use too.
pub struct ClusterStore {
    shared: Arc<Shared>,
    /// End with the store.
    _tasks: Vec<AbortOnDropHandle<()>>,
}

/// What the parts of a store share.
struct Shared {
    /// For recording: nobody who reads or tries can take these.
    doors_pool: Pool,
    /// For claiming.
    engine_pool: Pool,
    /// For settling.
    settle_pool: Pool,
    /// For the API's pages and changes.
    pages: Pool,
    recording: Line<record::Call>,
    settling: Line<settle::Call>,
    routes: Routes,
    doors: Doors,
    wake: Wake,
    /// This node, among those of the database.
    node: String,
    /// Where the last claim ended.
    turn: Mutex<EndpointId>,
    sealer: Sealer,
    handoff: Handoff,
}

impl std::fmt::Debug for ClusterStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClusterStore")
    }
}
