//! Who gets what: the applications and endpoints in use, kept in the writer's memory.
//!
//! Only the writer's thread reads and changes this, inside the transaction that also writes, so what stands
//! here is what the database holds. Every change to an application or endpoint forgets all of it.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};

use super::rows::Blob;
use crate::model::{ApplicationId, Endpoint, EndpointId};
use crate::store::columns::endpoint;
use crate::store::seal::Sealer;
use crate::store::{Error, Result};

/// Applications remembered before all are forgotten.
const MOST: usize = 10_000;

/// An application and its live endpoints.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) application: ApplicationId,
    pub(super) endpoints: Vec<Arc<Endpoint>>,
}

#[derive(Debug)]
pub(super) struct Routes {
    by_key: HashMap<String, Arc<Route>>,
    endpoints: HashMap<EndpointId, Option<Arc<Endpoint>>>,
    /// Where the last claim ended.
    pub(super) turn: EndpointId,
    /// The row of the last message that upkeep looked at.
    pub(super) swept: i64,
}

impl Routes {
    pub(super) fn new() -> Self {
        Self {
            by_key: HashMap::new(),
            endpoints: HashMap::new(),
            turn: EndpointId([0; 16]),
            swept: 0,
        }
    }

    pub(super) fn forget(&mut self) {
        self.by_key.clear();
        self.endpoints.clear();
    }

    /// The application of that id or uid.
    pub(super) fn of(&mut self, db: &Connection, sealer: &Sealer, key: &str) -> Result<Arc<Route>> {
        if let Some(route) = self.by_key.get(key) {
            return Ok(Arc::clone(route));
        }
        if self.by_key.len() >= MOST {
            self.forget();
        }
        let application = super::applications::find(db, key)?
            .ok_or(Error::NotFound("application"))?
            .id;
        let mut statement = db.prepare_cached(include_str!("sql/endpoint_of_application.sql"))?;
        let rows = statement.query_and_then(params![Blob(application.0)], |row| {
            endpoint::read(row, sealer)
        })?;
        let endpoints = rows
            .map(|endpoint| endpoint.map(Arc::new))
            .collect::<Result<Vec<_>>>()?;
        for endpoint in &endpoints {
            self.endpoints
                .insert(endpoint.id, Some(Arc::clone(endpoint)));
        }
        let route = Arc::new(Route {
            application,
            endpoints,
        });
        self.by_key.insert(key.to_owned(), Arc::clone(&route));
        Ok(route)
    }

    /// The live endpoint of that id; `None` when it is deleted.
    pub(super) fn endpoint(
        &mut self,
        db: &Connection,
        sealer: &Sealer,
        id: EndpointId,
    ) -> Result<Option<Arc<Endpoint>>> {
        if let Some(known) = self.endpoints.get(&id) {
            return Ok(known.clone());
        }
        let found = db
            .prepare_cached(include_str!("sql/endpoint_by_id.sql"))?
            .query_row(params![Blob(id.0)], |row| Ok(endpoint::read(row, sealer)))
            .optional()?
            .transpose()?
            .map(Arc::new);
        self.endpoints.insert(id, found.clone());
        Ok(found)
    }
}
