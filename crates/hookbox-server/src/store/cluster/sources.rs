//! Sources and their receipts, and API tokens.

use std::sync::Arc;

use super::applications;
use super::once::once;
use super::sql::sql;
use super::transaction::{Transaction, reading, transaction};
use super::trouble::Tried;
use super::{Shared, endpoints};
use crate::model::{
    Application, ApplicationId, EndpointId, MessageId, Receipt, Source, SourceId, Time, TokenId,
};
use crate::store::columns::{
    Bounds, Columns as _, Value, application, endpoint, listing, source, token,
};
use crate::store::seal::Sealer;
use crate::store::{Error, Listing, Once, Page, Result, SourceDraft, Token, forward};

/// The application of that uid, made when there is none.
async fn find_or_make(open: &mut Transaction, uid: &str, now: Time) -> Tried<ApplicationId> {
    if let Some(known) = applications::find(open, uid).await? {
        return Ok(known.id);
    }
    let made = Application::named(uid, now);
    // Not looked up a second time: when another node makes it at this moment, the next try finds it.
    open.execute(sql!("application_put"), &application::write(&made))
        .await?;
    Ok(made.id)
}

/// Makes the endpoints of a source what its list of addresses says, place by place.
async fn write_forward(
    open: &mut Transaction,
    source: &Source,
    urls: &[String],
    now: Time,
    sealer: &Sealer,
) -> Tried<()> {
    let rows = open
        .query(sql!("endpoint_of_source"), &[(&source.id.0).into()])
        .await?;
    let known = rows
        .iter()
        .map(|row| endpoint::read(row, sealer))
        .collect::<Result<Vec<_>>>()?;
    let changes = forward::changes(source, known, urls, now);
    for endpoint in &changes.write {
        endpoints::write(open, endpoint, sealer).await?;
    }
    for gone in changes.delete {
        endpoints::delete(open, gone, now).await?;
    }
    Ok(())
}

async fn put(
    open: &mut Transaction,
    draft: &SourceDraft,
    replace: bool,
    now: Time,
    sealer: &Sealer,
) -> Tried<Source> {
    let before = open
        .find(sql!("source_find"), &[(&draft.name).into()])
        .await?;
    let before = before.map(|row| source::read(&row, sealer)).transpose()?;
    draft.may_replace(before.as_ref(), replace)?;
    let application_id = find_or_make(open, &draft.application_uid, now).await?;
    let made = draft.source(before.as_ref(), application_id, now)?;
    open.execute(sql!("source_put"), &source::write(&made, sealer))
        .await?;
    write_forward(open, &made, &draft.forward, now, sealer).await?;
    touch(open).await?;
    Ok(made)
}

/// A write that changes nothing, to what doors and engine write: a server that only reads refuses it, and it waits for
/// whoever has locked them.
async fn touch_nothing(open: &mut Transaction) -> Tried<()> {
    open.execute(sql!("health"), &[]).await?;
    Ok(())
}

/// Says that a source or a token was changed.
async fn touch(open: &mut Transaction) -> Tried<()> {
    open.execute(sql!("door_touch"), &[]).await?;
    Ok(())
}

impl Shared {
    pub(super) async fn put_source(
        &self,
        draft: SourceDraft,
        replace: bool,
        now: Time,
        key: Option<Once>,
    ) -> Result<Source> {
        let made: Result<Source> = transaction!(self.pages, |open| {
            once(&mut open, key.as_ref(), &self.sealer).await?;
            put(&mut open, &draft, replace, now, &self.sealer).await
        });
        let made = made?;
        self.renew_doors().await;
        Ok(made)
    }

    pub(super) async fn sources(&self, page: Page<String>) -> Result<Listing<Source>> {
        let bounds = Bounds::of(&page);
        let values = [
            Value::from(&bounds.above),
            (&bounds.below).into(),
            bounds.limit.into(),
        ];
        let sql = sql!("source_list").ordered(bounds.down);
        let rows = reading!(self.pages, |read| read.query(sql, &values).await)?;
        let data = rows.iter().map(|row| source::read(row, &self.sealer));
        Ok(listing(&page, data.collect::<Result<_>>()?))
    }

    pub(super) async fn delete_source(&self, id: SourceId, now: Time) -> Result<()> {
        let done: Result<()> = transaction!(self.pages, |open| {
            let values = [Value::from(&id.0), now.into()];
            if open.execute(sql!("source_delete"), &values).await? == 0 {
                return Err(Error::NotFound("source").into());
            }
            for row in open.query(sql!("endpoint_of_source"), &values[..1]).await? {
                endpoints::delete(&mut open, EndpointId(row.blob(0)?), now).await?;
            }
            touch(&mut open).await
        });
        done?;
        self.renew_doors().await;
        Ok(())
    }

    pub(super) async fn receipts(
        &self,
        id: SourceId,
        page: Page<MessageId>,
    ) -> Result<Listing<Receipt>> {
        let bounds = Bounds::of(&page);
        let values = [
            Value::from(&id.0),
            (&bounds.above.0).into(),
            (&bounds.below.0).into(),
            bounds.limit.into(),
        ];
        let sql = sql!("receipt_list").ordered(bounds.down);
        let rows = reading!(self.pages, |read| read.query(sql, &values).await)?;
        let data = rows.iter().map(|row| source::receipt(row, id));
        Ok(listing(&page, data.collect::<Result<_>>()?))
    }

    pub(super) async fn create_token(&self, new: Token) -> Result<()> {
        let done: Result<()> = transaction!(self.pages, |open| {
            open.execute(sql!("token_put"), &token::write(&new)).await?;
            touch(&mut open).await
        });
        done?;
        self.renew_doors().await;
        Ok(())
    }

    pub(super) async fn tokens(&self, page: Page<TokenId>) -> Result<Listing<Token>> {
        let bounds = Bounds::of(&page);
        let values = [
            Value::from(&bounds.above.0),
            (&bounds.below.0).into(),
            bounds.limit.into(),
        ];
        let sql = sql!("token_list").ordered(bounds.down);
        let rows = reading!(self.pages, |read| read.query(sql, &values).await)?;
        let data = rows.iter().map(token::read).collect::<Result<_>>()?;
        Ok(listing(&page, data))
    }

    pub(super) async fn revoke_token(&self, id: TokenId) -> Result<()> {
        let done: Result<()> = transaction!(self.pages, |open| {
            if open
                .execute(sql!("token_delete"), &[(&id.0).into()])
                .await?
                == 0
            {
                return Err(Error::NotFound("token").into());
            }
            touch(&mut open).await
        });
        done?;
        self.renew_doors().await;
        Ok(())
    }

    /// A source that this node does not know may have been made by another: the database is asked.
    pub(super) async fn source(&self, name: &str) -> Result<Arc<Source>> {
        if let Some(known) = self.doors.source(name) {
            return Ok(known);
        }
        self.doors.renew(&self.pages, &self.sealer).await?;
        self.doors.source(name).ok_or(Error::NotFound("source"))
    }

    /// The same for a token.
    pub(super) async fn token(&self, digest: [u8; 32]) -> Result<Token> {
        if let Some(known) = self.doors.token(&digest) {
            return Ok(known);
        }
        self.doors.renew(&self.pages, &self.sealer).await?;
        self.doors.token(&digest).ok_or(Error::NotFound("token"))
    }

    /// Whether the database answers and can be written.
    pub(super) async fn health(&self) -> Result<()> {
        transaction!(self.pages, |open| touch_nothing(&mut open).await)
    }

    /// Makes this node's memory of sources and tokens new before the caller of a change is answered.
    async fn renew_doors(&self) {
        if let Err(error) = self.doors.renew(&self.pages, &self.sealer).await {
            tracing::warn!(%error, "sources and tokens in memory may be a second old");
        }
    }
}
