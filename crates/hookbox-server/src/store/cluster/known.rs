//! What a group of calls names, and what the database knows of that.

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::once::Known as KnownKey;
use super::plan::Plan;
use super::record::Call;
use super::routes::{self, Route};
use super::transaction::Row;
use crate::model::{ApplicationId, MessageId};
use crate::store::columns::{Columns as _, Value};
use crate::store::seal::Sealer;
use crate::store::{Draft, Error, Recorded, Result, Seen};

/// The key of a receipt: unique over all days, and of the same length whatever a provider puts into an id.
pub(super) fn receipt_key(seen: &Seen) -> [u8; 32] {
    Sha256::new()
        .chain_update(seen.source_id.0)
        .chain_update(&seen.event_id)
        .finalize()
        .into()
}

/// The key of the name that a sender gave to a message.
pub(super) fn event_id_key(application: ApplicationId, event_id: &str) -> [u8; 32] {
    Sha256::new()
        .chain_update(application.0)
        .chain_update(event_id)
        .finalize()
        .into()
}

/// What a group names, as the database is asked for it.
pub(super) struct Asked<'a> {
    /// Applications by id or uid.
    pub(super) names: Vec<&'a str>,
    pub(super) applications: Vec<[Value<'a>; 2]>,
    pub(super) receipts: Vec<[Value<'a>; 1]>,
    /// An application's name and what a sender called a message of it.
    pub(super) event_ids: Vec<(&'a str, &'a str)>,
    pub(super) keys: Vec<[Value<'a>; 1]>,
}

impl<'a> Asked<'a> {
    pub(super) fn by(calls: &'a [Call]) -> Self {
        let drafts = || calls.iter().flat_map(|call| &call.drafts);
        let mut names: Vec<&str> = drafts().map(|draft| draft.application.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        Self {
            applications: names.iter().map(|name| routes::row(name)).collect(),
            names,
            receipts: drafts()
                .filter_map(|draft| draft.seen.as_ref())
                .map(|seen| [receipt_key(seen).to_vec().into()])
                .collect(),
            event_ids: drafts()
                .filter_map(|draft| Some((draft.application.as_str(), draft.event_id.as_deref()?)))
                .collect(),
            keys: drafts()
                .filter_map(|draft| draft.once.as_ref())
                .map(|once| [(&once.key).into()])
                .collect(),
        }
    }

    pub(super) fn event_ids_of(&self, routes: &HashMap<String, Arc<Route>>) -> Vec<[Value<'a>; 1]> {
        let key = |(name, id): &(&str, &str)| {
            let application = routes.get(*name)?.application;
            Some([event_id_key(application, id).to_vec().into()])
        };
        self.event_ids.iter().filter_map(key).collect()
    }
}

pub(super) fn rows<'a, 'b, const N: usize>(rows: &'b [[Value<'a>; N]]) -> Vec<&'b [Value<'a>]> {
    rows.iter().map(<[_; N]>::as_slice).collect()
}

/// A receipt that is there.
#[derive(Clone, Copy)]
pub(super) struct KnownReceipt {
    pub(super) variant: i64,
    pub(super) digest: [u8; 32],
    pub(super) message: MessageId,
}

/// What the database knows of the names in a group.
pub(super) struct Known {
    keys: HashMap<[u8; 32], KnownKey>,
    receipts: HashMap<[u8; 32], Vec<KnownReceipt>>,
    event_ids: HashMap<[u8; 32], MessageId>,
    routes: HashMap<String, Arc<Route>>,
}

impl Known {
    pub(super) fn read(
        routes: HashMap<String, Arc<Route>>,
        receipts: &[Row],
        event_ids: &[Row],
        keys: &[Row],
    ) -> Result<Self> {
        let mut known = Self {
            keys: HashMap::new(),
            receipts: HashMap::new(),
            event_ids: HashMap::new(),
            routes,
        };
        for row in receipts {
            let receipt = KnownReceipt {
                variant: row.number(1)?,
                digest: row.blob(2)?,
                message: MessageId(row.blob(3)?),
            };
            known
                .receipts
                .entry(row.blob(0)?)
                .or_default()
                .push(receipt);
        }
        for row in event_ids {
            known
                .event_ids
                .insert(row.blob(0)?, MessageId(row.blob(1)?));
        }
        for row in keys {
            let key = KnownKey::read(row)?;
            known.keys.insert(key.key, key);
        }
        Ok(known)
    }

    /// Whether any idempotency key is known.
    pub(super) fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    fn route(&self, draft: &Draft) -> Result<&Route> {
        self.routes
            .get(&draft.application)
            .map(Arc::as_ref)
            .ok_or(Error::NotFound("application"))
    }

    fn receipt(&self, draft: &Draft) -> &[KnownReceipt] {
        draft
            .seen
            .as_ref()
            .and_then(|seen| self.receipts.get(&receipt_key(seen)))
            .map_or(&[], Vec::as_slice)
    }

    /// All of a call or none of it.
    pub(super) fn add(
        &self,
        call: &Call,
        plan: &mut Plan,
        sealer: &Sealer,
    ) -> Result<Vec<Recorded>> {
        call.drafts
            .iter()
            .try_for_each(|draft| self.check(draft, sealer))?;
        call.drafts
            .iter()
            .map(|draft| plan.add(draft, self.route(draft)?, self.receipt(draft)))
            .collect()
    }

    /// What a draft names that is not there yet.
    pub(super) fn new_names(&self, draft: &Draft) -> impl Iterator<Item = [u8; 32]> {
        let key = draft.once.as_ref().map(|once| once.key);
        let key = key.filter(|key| !self.keys.contains_key(key));
        let seen = draft.seen.as_ref().filter(|seen| {
            let known = self.receipt(draft);
            !known.iter().any(|known| known.digest == seen.digest)
        });
        let named = draft.event_id.as_ref().and_then(|id| {
            let application = self.routes.get(&draft.application)?.application;
            Some(event_id_key(application, id)).filter(|key| !self.event_ids.contains_key(key))
        });
        key.into_iter().chain(seen.map(receipt_key)).chain(named)
    }

    fn check(&self, draft: &Draft, sealer: &Sealer) -> Result<()> {
        let repeated = draft.once.as_ref().and_then(|once| {
            let known = self.keys.get(&once.key)?;
            known.refusal(once, sealer)
        });
        if let Some(refusal) = repeated {
            return Err(refusal);
        }
        let route = self.route(draft)?;
        let named = draft
            .event_id
            .as_ref()
            .and_then(|id| self.event_ids.get(&event_id_key(route.application, id)));
        // Its own name comes from a commit that nobody saw; then its rows are there too, and are found by them.
        if named.is_some_and(|message| *message != draft.id) {
            return Err(Error::Conflict("a message with this eventId exists"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;

    const APPLICATION: ApplicationId = ApplicationId([1; 16]);

    fn draft(id: u8) -> Draft {
        Draft {
            id: MessageId([id; 16]),
            application: "app".into(),
            event_id: Some("its name".into()),
            event_type: "a.b".into(),
            channels: Vec::new(),
            content_type: "application/json".into(),
            payload: bytes::Bytes::new(),
            headers: Vec::new(),
            seen: None,
            created_at: Time(0),
            once: None,
        }
    }

    #[test]
    fn a_name_is_taken_by_another_message_and_not_by_its_own() {
        let route = Route {
            application: APPLICATION,
            endpoints: Vec::new(),
        };
        let known = Known {
            keys: HashMap::new(),
            receipts: HashMap::new(),
            event_ids: HashMap::from([(event_id_key(APPLICATION, "its name"), MessageId([1; 16]))]),
            routes: HashMap::from([("app".into(), Arc::new(route))]),
        };
        let sealer = Sealer::new([0; 32]);
        assert_eq!(known.check(&draft(1), &sealer), Ok(()));
        assert!(matches!(
            known.check(&draft(2), &sealer),
            Err(Error::Conflict(_))
        ));
    }
}
