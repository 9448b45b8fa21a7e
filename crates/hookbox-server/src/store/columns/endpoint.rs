//! Endpoints in columns: headers and secrets are sealed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Columns, Value, json};
use crate::model::endpoint::{Disabled, SigningSecret};
use crate::model::{ApplicationId, Endpoint, EndpointId, Secret, SourceId, Time};
use crate::store::seal::Sealer;
use crate::store::{Error, Result};

/// How many columns an endpoint has.
pub(in crate::store) const WIDTH: usize = 17;

#[derive(Serialize, Deserialize)]
struct StoredSecret {
    key: String,
    expires_at: Option<i64>,
}

pub(in crate::store) fn read(row: &impl Columns, sealer: &Sealer) -> Result<Endpoint> {
    let id = EndpointId(row.blob(0)?);
    let opened =
        |at| -> Result<Vec<u8>> { sealer.open(&id.0, &row.bytes(at)?.unwrap_or_default()) };
    let headers: BTreeMap<String, String> = parsed(&opened(12)?)?;
    let secrets: Vec<StoredSecret> = parsed(&opened(13)?)?;
    let schedule = row.text(14)?.map(|text| {
        text.parse()
            .map_err(|_| Error::Unreadable("a retry schedule".into()))
    });
    Ok(Endpoint {
        id,
        application_id: ApplicationId(row.blob(1)?),
        uid: row.text(2)?,
        url: row.string(3)?,
        description: row.string(4)?,
        throttle_rate: row.optional_number(5)?,
        event_types: row.optional_json(6)?,
        channels: row.optional_json(7)?,
        source: row.optional_blob(8)?.map(SourceId),
        trusted: row.flag(9)?,
        disabled: row.text(10)?.as_deref().and_then(Disabled::from_code),
        metadata: row.json(11)?,
        headers: headers
            .into_iter()
            .map(|(name, value)| (name, Secret::new(value)))
            .collect(),
        secrets: secrets
            .into_iter()
            .map(|stored| SigningSecret {
                key: Secret::new(stored.key),
                expires_at: stored.expires_at.map(Time),
            })
            .collect(),
        retry_schedule: schedule.transpose()?,
        created_at: row.time(15)?,
        updated_at: row.time(16)?,
    })
}

fn parsed<T: serde::de::DeserializeOwned>(text: &[u8]) -> Result<T> {
    serde_json::from_slice(text).map_err(|error| Error::Unreadable(error.to_string()))
}

pub(in crate::store) fn write<'a>(endpoint: &'a Endpoint, sealer: &Sealer) -> Vec<Value<'a>> {
    let headers: BTreeMap<&str, &str> = endpoint
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.expose()))
        .collect();
    let secrets: Vec<StoredSecret> = endpoint
        .secrets
        .iter()
        .map(|secret| StoredSecret {
            key: secret.key.expose().to_owned(),
            expires_at: secret.expires_at.map(|at| at.0),
        })
        .collect();
    let seal = |text: String| sealer.seal(&endpoint.id.0, text.as_bytes());
    vec![
        (&endpoint.id.0).into(),
        (&endpoint.application_id.0).into(),
        endpoint.uid.as_ref().into(),
        (&endpoint.url).into(),
        (&endpoint.description).into(),
        endpoint.throttle_rate.into(),
        endpoint.event_types.as_deref().map(json).into(),
        endpoint.channels.as_deref().map(json).into(),
        endpoint.source.as_ref().map(|id| &id.0).into(),
        endpoint.trusted.into(),
        endpoint.disabled.map(Disabled::code).into(),
        json(&endpoint.metadata).into(),
        seal(json(&headers)).into(),
        seal(json(&secrets)).into(),
        endpoint
            .retry_schedule
            .as_ref()
            .map(ToString::to_string)
            .into(),
        endpoint.created_at.into(),
        endpoint.updated_at.into(),
    ]
}
