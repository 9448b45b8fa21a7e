//! What every request asks for first, kept in memory: sources by name, tokens by digest.
//!
//! Only this process writes the file, so what stands here is what is committed: the writer renews it after
//! each commit that changed either, before the caller of that commit is answered.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use rusqlite::Connection;

use super::{sources, tokens};
use crate::model::Source;
use crate::store::seal::Sealer;
use crate::store::{Result, Token};

/// Sources and tokens, as committed.
#[derive(Clone, Debug, Default)]
pub(super) struct Doors(Arc<RwLock<Known>>);

#[derive(Debug, Default)]
struct Known {
    sources: HashMap<String, Arc<Source>>,
    tokens: HashMap<[u8; 32], Token>,
}

impl Doors {
    pub(super) fn renew(&self, db: &Connection, sealer: &Sealer) -> Result<()> {
        let sources = sources::all(db, sealer)?
            .into_iter()
            .map(|source| (source.name.clone(), Arc::new(source)));
        let known = Known {
            sources: sources.collect(),
            tokens: tokens::all(db)?
                .into_iter()
                .map(|token| (token.digest, token))
                .collect(),
        };
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = known;
        Ok(())
    }

    pub(super) fn source(&self, name: &str) -> Option<Arc<Source>> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .sources
            .get(name)
            .cloned()
    }

    pub(super) fn token(&self, digest: &[u8; 32]) -> Option<Token> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .tokens
            .get(digest)
            .cloned()
    }
}
