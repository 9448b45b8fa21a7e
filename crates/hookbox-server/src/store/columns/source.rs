//! Sources and their receipts in columns: secrets are sealed.

use super::{Columns, Value, json};
use crate::model::{ApplicationId, MessageId, Receipt, Secret, Source, SourceId};
use crate::store::seal::Sealer;
use crate::store::{Error, Result};

pub(in crate::store) fn read(row: &impl Columns, sealer: &Sealer) -> Result<Source> {
    let id = SourceId(row.blob(0)?);
    let secrets = sealer.open(&id.0, &row.bytes(4)?.unwrap_or_default())?;
    let secrets: Vec<String> =
        serde_json::from_slice(&secrets).map_err(|error| Error::Unreadable(error.to_string()))?;
    Ok(Source {
        id,
        name: row.string(1)?,
        application_id: ApplicationId(row.blob(2)?),
        provider: row.string(3)?,
        secrets: secrets.into_iter().map(Secret::new).collect(),
        rules: row.json(5)?,
        from_file: row.flag(6)?,
        created_at: row.time(7)?,
        updated_at: row.time(8)?,
    })
}

pub(in crate::store) fn write<'a>(source: &'a Source, sealer: &Sealer) -> Vec<Value<'a>> {
    let secrets: Vec<&str> = source.secrets.iter().map(Secret::expose).collect();
    vec![
        (&source.id.0).into(),
        (&source.name).into(),
        (&source.application_id.0).into(),
        (&source.provider).into(),
        sealer.seal(&source.id.0, json(&secrets).as_bytes()).into(),
        json(&source.rules).into(),
        source.from_file.into(),
        source.created_at.into(),
        source.updated_at.into(),
    ]
}

/// Reads a receipt; its event id is kept as bytes, for a provider may put anything into it.
pub(in crate::store) fn receipt(row: &impl Columns, source_id: SourceId) -> Result<Receipt> {
    Ok(Receipt {
        source_id,
        event_id: String::from_utf8_lossy(&row.bytes(0)?.unwrap_or_default()).into_owned(),
        digest: row.blob(1)?,
        message_id: MessageId(row.blob(2)?),
        received_at: row.time(3)?,
        seen: row.number(4)?,
    })
}
