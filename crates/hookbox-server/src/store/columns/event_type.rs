//! Event types in columns.

use super::{Columns, Value, json};
use crate::model::EventType;
use crate::store::Result;

pub(in crate::store) fn read(row: &impl Columns) -> Result<EventType> {
    Ok(EventType {
        name: row.string(0)?,
        description: row.string(1)?,
        archived: row.flag(2)?,
        deprecated: row.flag(3)?,
        schemas: row.optional_json(4)?,
        feature_flags: row.json(5)?,
        group_name: row.text(6)?,
        created_at: row.time(7)?,
        updated_at: row.time(8)?,
    })
}

pub(in crate::store) fn write(event_type: &EventType) -> Vec<Value<'_>> {
    vec![
        (&event_type.name).into(),
        (&event_type.description).into(),
        event_type.archived.into(),
        event_type.deprecated.into(),
        event_type.schemas.as_ref().map(json).into(),
        json(&event_type.feature_flags).into(),
        event_type.group_name.as_ref().into(),
        event_type.created_at.into(),
        event_type.updated_at.into(),
    ]
}
