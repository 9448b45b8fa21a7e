//! Who gets what: the applications and endpoints in use, kept in memory.
//!
//! Each change to an application or its endpoints raises its revision. A transaction asks for the revision, and
//! what stands here is used only under the same one: so an endpoint made on any node before a call gets its
//! delivery.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::sql::sql;
use super::transaction::{Row, Transaction};
use super::trouble::Tried;
use crate::model::{ApplicationId, Endpoint, EndpointId};
use crate::store::columns::{Columns as _, Value, endpoint};
use crate::store::seal::Sealer;

/// Applications, and endpoints, remembered before all are forgotten.
const MOST: usize = 10_000;

/// An application and its live endpoints.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) application: ApplicationId,
    pub(super) endpoints: Vec<Arc<Endpoint>>,
}

#[derive(Default)]
pub(super) struct Routes(Mutex<Known>);

#[derive(Default)]
struct Known {
    routes: HashMap<ApplicationId, (i64, Arc<Route>)>,
    endpoints: HashMap<EndpointId, (i64, Arc<Endpoint>)>,
}

/// What `application_revision` is asked for a name: an id or a uid.
pub(super) fn row(name: &str) -> [Value<'_>; 2] {
    [asked_id(name).0.to_vec().into(), name.into()]
}

fn asked_id(name: &str) -> ApplicationId {
    name.parse().unwrap_or(ApplicationId([0; 16]))
}

impl Routes {
    /// The applications of these names: ids or uids. A name that no application has is not in the answer. The rows
    /// are those of `application_revision` for their [`row`]s.
    pub(super) async fn of(
        &self,
        transaction: &mut Transaction,
        sealer: &Sealer,
        names: &[&str],
        rows: &[Row],
    ) -> Tried<HashMap<String, Arc<Route>>> {
        let mut routes = HashMap::new();
        for row in rows {
            let (id, uid) = (ApplicationId(row.blob(0)?), row.text(1)?);
            let route = self.route(transaction, sealer, id, row.number(2)?).await?;
            for name in names {
                if asked_id(name) == id || uid.as_deref() == Some(*name) {
                    routes.insert((*name).to_owned(), Arc::clone(&route));
                }
            }
        }
        Ok(routes)
    }

    async fn route(
        &self,
        transaction: &mut Transaction,
        sealer: &Sealer,
        application: ApplicationId,
        revision: i64,
    ) -> Tried<Arc<Route>> {
        if let Some((known, route)) = self.known().routes.get(&application)
            && *known == revision
        {
            return Ok(Arc::clone(route));
        }
        let rows = transaction
            .query(sql!("endpoint_of_application"), &[(&application.0).into()])
            .await?;
        let endpoints = rows
            .iter()
            .map(|row| endpoint::read(row, sealer).map(Arc::new))
            .collect::<crate::store::Result<Vec<_>>>()?;
        let route = Arc::new(Route {
            application,
            endpoints,
        });
        let mut known = self.known();
        if known.routes.len() >= MOST {
            known.routes.clear();
        }
        known
            .routes
            .insert(application, (revision, Arc::clone(&route)));
        Ok(route)
    }

    /// The live endpoint of that id, as of that revision of its application.
    pub(super) async fn endpoint(
        &self,
        transaction: &mut Transaction,
        sealer: &Sealer,
        id: EndpointId,
        revision: i64,
    ) -> Tried<Option<Arc<Endpoint>>> {
        if let Some((known, endpoint)) = self.known().endpoints.get(&id)
            && *known == revision
        {
            return Ok(Some(Arc::clone(endpoint)));
        }
        let Some(row) = transaction
            .find(sql!("endpoint_by_id"), &[(&id.0).into()])
            .await?
        else {
            return Ok(None);
        };
        let endpoint = Arc::new(endpoint::read(&row, sealer)?);
        let mut known = self.known();
        if known.endpoints.len() >= MOST {
            known.endpoints.clear();
        }
        known
            .endpoints
            .insert(id, (revision, Arc::clone(&endpoint)));
        Ok(Some(endpoint))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
