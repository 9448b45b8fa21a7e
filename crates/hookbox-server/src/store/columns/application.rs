//! Applications in columns.

use super::{Columns, Value, json};
use crate::model::{Application, ApplicationId};
use crate::store::Result;

pub(in crate::store) fn read(row: &impl Columns) -> Result<Application> {
    Ok(Application {
        id: ApplicationId(row.blob(0)?),
        uid: row.text(1)?,
        name: row.string(2)?,
        throttle_rate: row.optional_number(3)?,
        metadata: row.json(4)?,
        created_at: row.time(5)?,
        updated_at: row.time(6)?,
    })
}

pub(in crate::store) fn write(application: &Application) -> Vec<Value<'_>> {
    vec![
        (&application.id.0).into(),
        application.uid.as_ref().into(),
        (&application.name).into(),
        application.throttle_rate.into(),
        json(&application.metadata).into(),
        application.created_at.into(),
        application.updated_at.into(),
    ]
}
