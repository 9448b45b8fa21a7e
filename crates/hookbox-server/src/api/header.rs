//! Headers that an endpoint's owner adds to every request.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use serde_json::json;

use super::asked::{Asked, At, Reply};
use super::endpoint::{editable, find};
use super::wire::Fields;
use super::{Answer, Api, Fault, Shared};
use crate::model::{Endpoint, Secret};
use crate::store::Error;

const MOST: usize = 50;
const LONGEST: usize = 4 * 1024;
const LONGEST_TOGETHER: usize = 16 * 1024;

/// Names that say how the request is carried, or what its body is: the sender alone knows.
const FORBIDDEN: [&str; 27] = [
    "age",
    "cache-control",
    "clear-site-data",
    "connection",
    "content-encoding",
    "content-language",
    "content-length",
    "content-location",
    "content-type",
    "cookie2",
    "date",
    "expect",
    "expires",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "pragma",
    "te",
    "trailer",
    "trailers",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
    "warning",
    "x-forwarded-for",
];
/// Names that belong to proxies and clouds, and those that signatures are read from.
const FORBIDDEN_BEGINNINGS: [&str; 12] = [
    "hookbox-", "proxy-", "svix-", "webhook-", "x-amz-", "x-amzn-", "x-azure-", "x-fd-", "x-gfe",
    "x-goog-", "x-google", "x-svix-",
];
/// Names whose values are not shown again.
const SENSITIVE: [&str; 6] = [
    "authorization",
    "proxy-authenticate",
    "proxy-authorization",
    "www-authenticate",
    "x-api-key",
    "x-auth-token",
];

pub(super) fn routes() -> Router<Arc<Api>> {
    Router::new().route(
        "/api/v1/app/{app}/endpoint/{endpoint}/headers",
        get(show).put(put).patch(patch),
    )
}

/// The headers that a body wants; none when it does not say.
pub(super) fn sent(fields: &mut Fields<'_>) -> Result<Vec<(String, String)>, Fault> {
    let headers = fields.take::<BTreeMap<String, String>>("headers", "an object of texts")?;
    let headers: Vec<_> = headers.value().unwrap_or_default().into_iter().collect();
    check(&headers).map_err(|problem| Fault::field("headers", problem))?;
    Ok(headers)
}

/// The rules for all headers of an endpoint. The problem names a header only when its name is harmless.
fn check<V: AsRef<str>>(headers: &[(String, V)]) -> Result<(), String> {
    if headers.len() > MOST {
        return Err(format!("must be at most {MOST}"));
    }
    let mut together = 0;
    for (place, (name, value)) in headers.iter().enumerate() {
        check_name(name)?;
        check_value(value.as_ref())
            .map_err(|problem| format!("the value of '{name}' {problem}"))?;
        if headers[..place]
            .iter()
            .any(|(other, _)| other.eq_ignore_ascii_case(name))
        {
            return Err(format!("'{name}' is there twice"));
        }
        together += name.len() + value.as_ref().len();
    }
    match together <= LONGEST_TOGETHER {
        true => Ok(()),
        false => Err(format!("must be at most {LONGEST_TOGETHER} bytes together")),
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || name.len() > 256 || !name.bytes().all(token) {
        return Err("must have names of 1 to 256 characters that HTTP allows".to_owned());
    }
    // Servers that hand headers on as variables take an underscore for a dash.
    let plain = name.to_ascii_lowercase().replace('_', "-");
    let begins = |beginning: &&str| plain.starts_with(*beginning);
    match FORBIDDEN.contains(&plain.as_str()) || FORBIDDEN_BEGINNINGS.iter().any(begins) {
        true => Err(format!("'{name}' is not yours to set")),
        false => Ok(()),
    }
}

fn check_value(value: &str) -> Result<(), String> {
    if value.len() > LONGEST {
        return Err(format!("must be at most {LONGEST} bytes long"));
    }
    match value
        .bytes()
        .all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte))
    {
        true => Ok(()),
        false => Err("must be printable ASCII on one line".to_owned()),
    }
}

fn is_sensitive(name: &str) -> bool {
    SENSITIVE
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}

async fn show(State(api): Shared, At([app, endpoint]): At<2>) -> Answer {
    let endpoint = find(&api, &app, &endpoint).await?;
    let (sensitive, open): (Vec<_>, Vec<_>) = endpoint
        .headers
        .iter()
        .partition(|(name, _)| is_sensitive(name));
    let open: BTreeMap<&str, &str> = open
        .into_iter()
        .map(|(name, value)| (name.as_str(), value.expose()))
        .collect();
    let sensitive: Vec<&str> = sensitive
        .into_iter()
        .map(|(name, _)| name.as_str())
        .collect();
    Reply::ok(&json!({ "headers": open, "sensitive": sensitive }))
}

async fn put(State(api): Shared, At([app, endpoint]): At<2>, asked: Asked) -> Answer {
    let mut fields = asked.fields()?;
    if fields.is_absent("headers") {
        return Err(Fault::field("headers", "is required"));
    }
    let headers = sent(&mut fields)?;
    fields.finish()?;
    change(&api, &app, &endpoint, move |kept| {
        *kept = headers
            .clone()
            .into_iter()
            .map(|(name, value)| (name, Secret::new(value)))
            .collect();
    })
    .await
}

/// Sets those with a value, removes those with `null` and those in `deleteHeaders`.
async fn patch(State(api): Shared, At([app, endpoint]): At<2>, asked: Asked) -> Answer {
    type Changes = BTreeMap<String, Option<String>>;
    let mut fields = asked.fields()?;
    let changes = fields.take::<Changes>("headers", "an object of texts and nulls")?;
    let removed = fields.texts("deleteHeaders")?.value().unwrap_or_default();
    fields.finish()?;
    let removed = removed.into_iter().map(|name| (name, None));
    let changes: Vec<_> = changes
        .value()
        .unwrap_or_default()
        .into_iter()
        .chain(removed)
        .collect();
    change(&api, &app, &endpoint, move |kept| {
        merge(kept, changes.clone());
    })
    .await
}

fn merge(kept: &mut Vec<(String, Secret)>, changes: Vec<(String, Option<String>)>) {
    for (name, value) in changes {
        kept.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
        if let Some(value) = value {
            kept.push((name, Secret::new(value)));
        }
    }
}

async fn change(
    api: &Api,
    app: &str,
    endpoint: &str,
    work: impl Fn(&mut Vec<(String, Secret)>) + Send + Sync + 'static,
) -> Answer {
    let now = api.clock.now();
    let id = find(api, app, endpoint).await?.id;
    let change = Box::new(move |endpoint: &mut Endpoint| {
        editable(endpoint)?;
        work(&mut endpoint.headers);
        let all: Vec<_> = endpoint
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), value.expose()))
            .collect();
        check(&all).map_err(|problem| Error::Invalid {
            at: "headers",
            problem,
        })?;
        endpoint.updated_at = now;
        Ok(())
    });
    api.store.change_endpoint(id, now, change, None).await?;
    Ok(Reply::nothing())
}

#[cfg(test)]
mod tests;
