//! What an endpoint receives: the exact bytes, and the headers that tell what they are.

use hookbox::{Secret, sign_with_all};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};

use crate::egress::{Failure, Request};
use crate::model::Time;
use crate::store::Work;

/// Set by the engine alone. A provider's header of such a name is passed on as `original-…`.
const OURS: [&str; 3] = ["webhook-id", "webhook-timestamp", "webhook-signature"];
const HOOKBOX: &str = concat!("Hookbox/", env!("CARGO_PKG_VERSION"));

/// Makes the request of a try at that time.
pub(super) fn build(work: &Work, now: Time) -> Result<Request, Failure> {
    let message = &work.message;
    let mut headers =
        HeaderMap::with_capacity(message.headers.len() + work.endpoint.headers.len() + 8);
    headers.insert(USER_AGENT, HeaderValue::from_static(HOOKBOX));
    for (name, value) in &message.headers {
        let name = if OURS.contains(&name.as_str()) {
            format!("original-{name}")
        } else {
            name.clone()
        };
        append(&mut headers, &name, value)?;
    }
    for (name, value) in &work.endpoint.headers {
        headers.insert(header_name(name)?, header_value(value.expose().as_bytes())?);
    }
    headers.insert(CONTENT_TYPE, header_value(message.content_type.as_bytes())?);
    if message.source.is_some() {
        let number = work.delivery.failures + 1;
        headers.insert(
            HeaderName::from_static("hookbox-attempt"),
            HeaderValue::from(number),
        );
        let received = header_value(message.created_at.to_string().as_bytes())?;
        headers.insert(HeaderName::from_static("hookbox-received-at"), received);
    }
    sign(&mut headers, work, now)?;
    let uri = work
        .endpoint
        .url
        .parse()
        .map_err(|_| Failure::unsendable("the endpoint's URL cannot be used"))?;
    Ok(Request {
        uri,
        headers,
        body: message.payload.clone(),
    })
}

/// The three headers of Standard Webhooks; the time is that of this try.
fn sign(headers: &mut HeaderMap, work: &Work, now: Time) -> Result<(), Failure> {
    let id = work.message.id.to_string();
    let secrets: Vec<Secret> = work
        .endpoint
        .live_secrets(now)
        .map(|secret| secret.expose().parse())
        .collect::<Result<_, _>>()
        .map_err(|_| Failure::unsendable("the endpoint's signing secret cannot be used"))?;
    let signature = sign_with_all(&secrets, &id, now.unix_seconds(), &work.message.payload);
    headers.insert(
        HeaderName::from_static("webhook-id"),
        header_value(id.as_bytes())?,
    );
    headers.insert(
        HeaderName::from_static("webhook-timestamp"),
        HeaderValue::from(now.unix_seconds()),
    );
    headers.insert(
        HeaderName::from_static("webhook-signature"),
        header_value(signature.as_bytes())?,
    );
    Ok(())
}

/// A provider's own header wins over ours of the same name, and may stand there several times.
fn append(headers: &mut HeaderMap, name: &str, value: &[u8]) -> Result<(), Failure> {
    let name = header_name(name)?;
    if name == USER_AGENT {
        headers.remove(USER_AGENT);
    }
    headers.append(name, header_value(value)?);
    Ok(())
}

fn header_name(name: &str) -> Result<HeaderName, Failure> {
    HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| Failure::unsendable("a header's name cannot be sent"))
}

fn header_value(value: &[u8]) -> Result<HeaderValue, Failure> {
    HeaderValue::from_bytes(value)
        .map_err(|_| Failure::unsendable("a header's value cannot be sent"))
}
