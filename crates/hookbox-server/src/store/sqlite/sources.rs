//! Sources and their receipts in `SQLite`.

use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::once::once;
use super::rows::Blob;
use super::writer::Context;
use super::{SqliteStore, applications, endpoints};
use crate::model::{Application, ApplicationId, MessageId, Receipt, Source, SourceId, Time};
use crate::store::columns::source::receipt as read_receipt;
use crate::store::columns::{Bounds, endpoint, listing, source};
use crate::store::seal::Sealer;
use crate::store::{Error, Listing, Once, Page, Result, SourceDraft, forward};

fn write(context: &mut Context<'_>, source: &Source) -> Result<()> {
    context
        .db
        .prepare_cached(include_str!("sql/source_put.sql"))?
        .execute(params_from_iter(source::write(source, context.sealer)))?;
    context.doors_changed = true;
    Ok(())
}

fn find(db: &Connection, sealer: &Sealer, name: &str) -> Result<Option<Source>> {
    db.prepare_cached(include_str!("sql/source_find.sql"))?
        .query_row(params![name], |row| Ok(source::read(row, sealer)))
        .optional()?
        .transpose()
}

/// Every live source.
pub(super) fn all(db: &Connection, sealer: &Sealer) -> Result<Vec<Source>> {
    let mut statement = db.prepare_cached(include_str!("sql/source_list.sql"))?;
    let rows = statement.query_and_then(params!["", char::MAX.to_string(), -1], |row| {
        source::read(row, sealer)
    })?;
    rows.collect()
}

/// The application of that uid, made when there is none.
fn application(context: &mut Context<'_>, uid: &str, now: Time) -> Result<ApplicationId> {
    if let Some(known) = applications::find(context.db, uid)? {
        return Ok(known.id);
    }
    let made = Application::named(uid, now);
    applications::write(context, &made)?;
    Ok(made.id)
}

/// Makes the endpoints of a source what its list of addresses says, place by place.
fn write_forward(
    context: &mut Context<'_>,
    source: &Source,
    urls: &[String],
    now: Time,
) -> Result<()> {
    let known = {
        let mut statement = context
            .db
            .prepare_cached(include_str!("sql/endpoint_of_source.sql"))?;
        let rows = statement.query_and_then([Blob(source.id.0)], |row| {
            endpoint::read(row, context.sealer)
        })?;
        rows.collect::<Result<Vec<_>>>()?
    };
    let changes = forward::changes(source, known, urls, now);
    for endpoint in &changes.write {
        endpoints::write(context, endpoint)?;
    }
    for gone in changes.delete {
        endpoints::delete(context, gone, now)?;
    }
    Ok(())
}

fn put(context: &mut Context<'_>, draft: &SourceDraft, replace: bool, now: Time) -> Result<Source> {
    let before = find(context.db, context.sealer, &draft.name)?;
    draft.may_replace(before.as_ref(), replace)?;
    let application_id = application(context, &draft.application_uid, now)?;
    let source = draft.source(before.as_ref(), application_id, now)?;
    write(context, &source)?;
    write_forward(context, &source, &draft.forward, now)?;
    Ok(source)
}

fn delete(context: &mut Context<'_>, id: SourceId, now: Time) -> Result<()> {
    let deleted = context
        .db
        .prepare_cached(include_str!("sql/source_delete.sql"))?
        .execute(params![Blob(id.0), now])?;
    if deleted == 0 {
        return Err(Error::NotFound("source"));
    }
    for endpoint in endpoints::ids(context.db, include_str!("sql/endpoint_of_source.sql"), id.0)? {
        endpoints::delete(context, endpoint, now)?;
    }
    context.doors_changed = true;
    Ok(())
}

impl SqliteStore {
    pub(super) async fn put_source(
        &self,
        draft: SourceDraft,
        replace: bool,
        now: Time,
        key: Option<Once>,
    ) -> Result<Source> {
        self.write(move |context| {
            once(context, key.as_ref())?;
            put(context, &draft, replace, now)
        })
        .await
    }

    pub(super) async fn sources(&self, page: Page<String>) -> Result<Listing<Source>> {
        let sealer = self.sealer.clone();
        self.read(move |db| {
            let bounds = Bounds::of(&page);
            let mut statement =
                db.prepare_cached(&bounds.ordered(include_str!("sql/source_list.sql")))?;
            let rows = statement
                .query_and_then(params![bounds.above, bounds.below, bounds.limit], |row| {
                    source::read(row, &sealer)
                })?;
            Ok(listing(&page, rows.collect::<Result<_>>()?))
        })
        .await
    }

    pub(super) async fn delete_source(&self, id: SourceId, now: Time) -> Result<()> {
        self.write(move |context| delete(context, id, now)).await
    }

    pub(super) async fn receipts(
        &self,
        source: SourceId,
        page: Page<MessageId>,
    ) -> Result<Listing<Receipt>> {
        self.read(move |db| {
            let bounds = Bounds::of(&page);
            let mut statement =
                db.prepare_cached(&bounds.ordered(include_str!("sql/receipt_list.sql")))?;
            let rows = statement.query_and_then(
                params![
                    Blob(source.0),
                    Blob(bounds.above.0),
                    Blob(bounds.below.0),
                    bounds.limit
                ],
                |row| read_receipt(row, source),
            )?;
            Ok(listing(&page, rows.collect::<Result<_>>()?))
        })
        .await
    }
}
