//! What every request asks for first, kept in memory: sources by name, tokens by digest.
//!
//! Every change to either raises a revision in the database. A node looks at it once in a while, and when it is
//! asked for something that it does not know: what another node made is there at once, what another node took
//! away is gone within [`POLL`].

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use super::sql::sql;
use super::transaction::{Pool, Transaction, reading};
use super::trouble::Tried;
use crate::model::Source;
use crate::store::columns::{Columns as _, Value, source, token};
use crate::store::seal::Sealer;
use crate::store::{Result, Token};

/// How old what stands here may be.
pub(super) const POLL: Duration = Duration::from_secs(1);

/// Sources and tokens, as of a revision.
#[derive(Default)]
pub(super) struct Doors {
    known: RwLock<Known>,
    /// One look at the database at a time; those who come meanwhile use what it found.
    looking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    revision: i64,
    sources: HashMap<String, Arc<Source>>,
    tokens: HashMap<[u8; 32], Token>,
}

impl Doors {
    /// Makes what stands here what the database holds now.
    pub(super) async fn renew(&self, pages: &Pool, sealer: &Sealer) -> Result<()> {
        let _one = self.looking.lock().await;
        let before = self.read(|known| known.revision);
        let renewed = reading!(pages, |read| load(&mut read, sealer, before).await)?;
        if let Some(known) = renewed {
            *self.known.write().unwrap_or_else(PoisonError::into_inner) = known;
        }
        Ok(())
    }

    pub(super) fn source(&self, name: &str) -> Option<Arc<Source>> {
        self.read(|known| known.sources.get(name).cloned())
    }

    pub(super) fn token(&self, digest: &[u8; 32]) -> Option<Token> {
        self.read(|known| known.tokens.get(digest).cloned())
    }

    fn read<T>(&self, read: impl FnOnce(&Known) -> T) -> T {
        read(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What the database holds, if that is newer than `before`.
async fn load(read: &mut Transaction, sealer: &Sealer, before: i64) -> Tried<Option<Known>> {
    let Some(row) = read.find(sql!("door_revision"), &[]).await? else {
        return Ok(None);
    };
    // Read before the rest: what changes in between is read again next time.
    let revision = row.number(0)?;
    if revision == before {
        return Ok(None);
    }
    let last = char::MAX.to_string();
    let all = [Value::Text(""), Value::Text(&last), Value::Int(i64::MAX)];
    let sources = read.query(sql!("source_list"), &all).await?;
    let sources = sources
        .iter()
        .map(|row| source::read(row, sealer).map(|source| (source.name.clone(), Arc::new(source))));
    let sources = sources.collect::<Result<_>>()?;
    let all = [
        Value::Bytes(&[0; 16]),
        Value::Bytes(&[0xff; 16]),
        Value::Int(i64::MAX),
    ];
    let tokens = read.query(sql!("token_list"), &all).await?;
    let tokens = tokens
        .iter()
        .map(|row| token::read(row).map(|token| (token.digest, token)));
    Ok(Some(Known {
        revision,
        sources,
        tokens: tokens.collect::<Result<_>>()?,
    }))
}
