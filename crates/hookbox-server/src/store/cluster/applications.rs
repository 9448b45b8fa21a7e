//! Applications.

use super::once::once;
use super::sql::sql;
use super::transaction::{Row, Transaction, reading, transaction};
use super::trouble::Tried;
use super::{Shared, endpoints};
use crate::model::{Application, ApplicationId, EndpointId, Time};
use crate::store::columns::{Bounds, Columns as _, Value, application, listing};
use crate::store::{Change, Error, Listing, Once, Page, Result};

/// The values that find an application by id or uid.
fn key(key: &str) -> [Value<'_>; 2] {
    let id = key.parse().unwrap_or(ApplicationId([0; 16]));
    [id.0.to_vec().into(), key.into()]
}

/// The live application of that id or uid.
pub(super) async fn find(open: &mut Transaction, name: &str) -> Tried<Option<Application>> {
    let row = open.find(sql!("application_find"), &key(name)).await?;
    Ok(row.as_ref().map(application::read).transpose()?)
}

async fn uid_is_free(open: &mut Transaction, new: &Application) -> Tried<()> {
    let Some(uid) = &new.uid else {
        return Ok(());
    };
    match find(open, uid).await? {
        Some(other) if other.id != new.id => {
            Err(Error::Conflict("an application with this uid exists").into())
        }
        _ => Ok(()),
    }
}

/// Writes an application, new or changed.
pub(super) async fn write(open: &mut Transaction, new: &Application) -> Tried<()> {
    uid_is_free(open, new).await?;
    open.execute(sql!("application_put"), &application::write(new))
        .await?;
    Ok(())
}

/// Says that an application or one of its endpoints was changed.
pub(super) async fn touch(open: &mut Transaction, id: ApplicationId) -> Tried<()> {
    open.execute(sql!("application_touch"), &[(&id.0).into()])
        .await?;
    Ok(())
}

/// Whether a statement that asks a yes-or-no question says yes.
pub(super) fn says_yes(row: Option<&Row>) -> Result<bool> {
    row.map_or(Ok(false), |row| row.flag(0))
}

impl Shared {
    pub(super) async fn create_application(
        &self,
        new: Application,
        key: Option<Once>,
    ) -> Result<()> {
        transaction!(self.pages, |open| {
            once(&mut open, key.as_ref(), &self.sealer).await?;
            write(&mut open, &new).await
        })
    }

    pub(super) async fn application(&self, key: &str) -> Result<Application> {
        let found = reading!(self.pages, |read| find(&mut read, key).await)?;
        found.ok_or(Error::NotFound("application"))
    }

    pub(super) async fn applications(
        &self,
        page: Page<ApplicationId>,
    ) -> Result<Listing<Application>> {
        let bounds = Bounds::of(&page);
        let values = [
            Value::from(&bounds.above.0),
            Value::from(&bounds.below.0),
            bounds.limit.into(),
        ];
        let sql = sql!("application_list").ordered(bounds.down);
        let rows = reading!(self.pages, |read| read.query(sql, &values).await)?;
        let data = rows.iter().map(application::read).collect::<Result<_>>()?;
        Ok(listing(&page, data))
    }

    pub(super) async fn change_application(
        &self,
        name: &str,
        change: Change<Application>,
    ) -> Result<Application> {
        transaction!(self.pages, |open| {
            let row = open.find(sql!("application_lock"), &key(name)).await?;
            let row = row.ok_or(Error::NotFound("application"))?;
            let mut changed = application::read(&row)?;
            change(&mut changed)?;
            write(&mut open, &changed).await?;
            Ok(changed)
        })
    }

    pub(super) async fn delete_application(&self, id: ApplicationId, now: Time) -> Result<()> {
        transaction!(self.pages, |open| {
            let key = [Value::from(&id.0)];
            let sources = open.find(sql!("application_has_source"), &key).await?;
            if says_yes(sources.as_ref())? {
                let why = "sources belong to this application; delete those first";
                return Err(Error::Conflict(why).into());
            }
            let values = [Value::from(&id.0), now.into()];
            if open.execute(sql!("application_delete"), &values).await? == 0 {
                return Err(Error::NotFound("application").into());
            }
            for row in open.query(sql!("endpoint_of_application"), &key).await? {
                endpoints::delete(&mut open, EndpointId(row.blob(0)?), now).await?;
            }
            Ok(())
        })
    }
}
