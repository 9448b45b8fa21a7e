//! Applications in `SQLite`.

use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::once::once;
use super::rows::Blob;
use super::writer::Context;
use super::{SqliteStore, endpoints};
use crate::model::{Application, ApplicationId, Time};
use crate::store::columns::{Bounds, application, listing};
use crate::store::{Change, Error, Listing, Once, Page, Result};

/// The live application of that id or uid.
pub(super) fn find(db: &Connection, key: &str) -> Result<Option<Application>> {
    let id = key.parse().unwrap_or(ApplicationId([0; 16]));
    db.prepare_cached(include_str!("sql/application_find.sql"))?
        .query_row(params![Blob(id.0), key], |row| Ok(application::read(row)))
        .optional()?
        .transpose()
}

fn uid_is_free(db: &Connection, application: &Application) -> Result<()> {
    let Some(uid) = &application.uid else {
        return Ok(());
    };
    match find(db, uid)? {
        Some(other) if other.id != application.id => {
            Err(Error::Conflict("an application with this uid exists"))
        }
        _ => Ok(()),
    }
}

/// Writes an application, new or changed.
pub(super) fn write(context: &mut Context<'_>, application: &Application) -> Result<()> {
    uid_is_free(context.db, application)?;
    context
        .db
        .prepare_cached(include_str!("sql/application_put.sql"))?
        .execute(params_from_iter(application::write(application)))?;
    context.routes.forget();
    Ok(())
}

impl SqliteStore {
    pub(super) async fn create_application(
        &self,
        new: Application,
        key: Option<Once>,
    ) -> Result<()> {
        self.write(move |context| {
            once(context, key.as_ref())?;
            write(context, &new)
        })
        .await
    }

    pub(super) async fn application(&self, key: &str) -> Result<Application> {
        let key = key.to_owned();
        self.read(move |db| find(db, &key)?.ok_or(Error::NotFound("application")))
            .await
    }

    pub(super) async fn applications(
        &self,
        page: Page<ApplicationId>,
    ) -> Result<Listing<Application>> {
        self.read(move |db| {
            let bounds = Bounds::of(&page);
            let mut statement =
                db.prepare_cached(&bounds.ordered(include_str!("sql/application_list.sql")))?;
            let rows = statement.query_and_then(
                params![Blob(bounds.above.0), Blob(bounds.below.0), bounds.limit],
                |row| application::read(row),
            )?;
            Ok(listing(&page, rows.collect::<Result<_>>()?))
        })
        .await
    }

    pub(super) async fn change_application(
        &self,
        key: &str,
        change: Change<Application>,
    ) -> Result<Application> {
        let key = key.to_owned();
        self.write(move |context| {
            let mut application = find(context.db, &key)?.ok_or(Error::NotFound("application"))?;
            change(&mut application)?;
            write(context, &application)?;
            Ok(application)
        })
        .await
    }

    pub(super) async fn delete_application(&self, id: ApplicationId, now: Time) -> Result<()> {
        self.write(move |context| {
            let sources: bool = context
                .db
                .prepare_cached(include_str!("sql/application_has_source.sql"))?
                .query_row(params![Blob(id.0)], |row| row.get(0))?;
            if sources {
                return Err(Error::Conflict(
                    "sources belong to this application; delete those first",
                ));
            }
            let deleted = context
                .db
                .prepare_cached(include_str!("sql/application_delete.sql"))?
                .execute(params![Blob(id.0), now])?;
            if deleted == 0 {
                return Err(Error::NotFound("application"));
            }
            for endpoint in endpoints::ids(
                context.db,
                include_str!("sql/endpoint_of_application.sql"),
                id.0,
            )? {
                endpoints::delete(context, endpoint, now)?;
            }
            context.routes.forget();
            Ok(())
        })
        .await
    }
}
