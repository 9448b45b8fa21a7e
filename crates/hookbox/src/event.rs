//! What a verified request says happened.

mod json;

use std::borrow::Cow;

use http::HeaderMap;
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::error::Refusal;
use crate::header::{self, MAX_ID_BYTES, MAX_TYPE_BYTES, plain};
use crate::provider::{IdFrom, Provider, TimeFrom, TypeFrom};
use json::Scalar;

/// The type of an event whose own type is missing or cannot be read.
pub const UNKNOWN_TYPE: &str = "unknown";

/// How much an event's id proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IdOrigin {
    /// The signature covers it: nobody but the sender can have chosen it.
    Signed,
    /// It is in a header that the signature does not cover: whoever has captured one
    /// request can send it again under another id. Compare [`Event::body_sha256`] too.
    Unsigned,
    /// The sender gave none that is usable, so it is made of the body: `sha256:` and hex.
    Content,
}

/// A verified event.
///
/// The body itself stays with the caller, byte for byte. A body that is signed but cannot
/// be read (no JSON, no UTF-8, a byte order mark) is still an event: it gets an id made of
/// its content and the type [`UNKNOWN_TYPE`]. A member that the JSON has twice counts as
/// not being there, since readers differ on which one they take.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// What makes a second arrival a duplicate; the same on every retry. Never empty, at
    /// most [`MAX_ID_BYTES`], without control characters.
    ///
    /// Stripe: the body's `id`. Standard Webhooks: `webhook-id`. GitHub:
    /// `X-GitHub-Delivery`. Shopify: `shop:topic:event:id`, or `shop:topic:webhook:id`
    /// without an `X-Shopify-Event-Id`, or `shop:topic:sha256:hex` without either; a `:`
    /// or `%` inside a part is written `%3A` or `%25`, so two keys are never the same text.
    pub id: String,
    /// How much the id proves.
    pub id_origin: IdOrigin,
    /// What happened, in the provider's words. Never empty, at most [`MAX_TYPE_BYTES`],
    /// without control characters.
    pub event_type: String,
    /// When it happened, in milliseconds since 1970, where the provider says so. Shopify
    /// says it in a header that is not signed.
    pub occurred_at_ms: Option<i64>,
    /// The SHA-256 of the body.
    pub body_sha256: [u8; 32],
    /// Which of the secrets the signature was made with, counted from zero.
    pub secret_index: usize,
}

impl Event {
    /// Reads the event of a request whose signature held; `signed_id` is the one that the
    /// signature covers.
    ///
    /// Whatever is absent is made up for. In a header, what is there but broken is refused:
    /// no provider sends it. In the body it counts as absent, since the sender signed it.
    pub(crate) fn read(
        provider: &Provider,
        signed_id: Option<&str>,
        headers: &HeaderMap,
        body: &[u8],
        secret_index: usize,
    ) -> Result<Self, Refusal> {
        let document = document(provider, headers, body)?;
        let paths = [
            provider.id.path(),
            provider.event_type.path(),
            provider.occurred_at.path(),
        ];
        let [id, event_type, occurred_at] = json::read(&document, paths);
        let body_sha256: [u8; 32] = Sha256::digest(body).into();
        let (id, id_origin) = match (provider.id, signed_id) {
            (IdFrom::Carrier, Some(id)) => (id.to_owned(), IdOrigin::Signed),
            (IdFrom::Carrier, None) => content_id(&body_sha256),
            (IdFrom::Body(_), _) => text(id, MAX_ID_BYTES)
                .map_or_else(|| content_id(&body_sha256), |id| (id, IdOrigin::Signed)),
            (IdFrom::Header(name), _) => header::id(headers, name)?.map_or_else(
                || content_id(&body_sha256),
                |id| (id.to_owned(), IdOrigin::Unsigned),
            ),
            (IdFrom::Scoped { scope, ids }, _) => scoped_id(headers, scope, ids, &body_sha256)?,
        };
        Ok(Self {
            id,
            id_origin,
            event_type: read_type(provider.event_type, headers, event_type)?,
            occurred_at_ms: read_time(provider.occurred_at, headers, occurred_at)?,
            body_sha256,
            secret_index,
        })
    }
}

/// The JSON of a request: its body, or where the body is a form the field that holds it.
fn document<'b>(
    provider: &Provider,
    headers: &HeaderMap,
    body: &'b [u8],
) -> Result<Cow<'b, [u8]>, Refusal> {
    const FORM: &str = "application/x-www-form-urlencoded";
    let Some(field) = provider.form_field else {
        return Ok(Cow::Borrowed(body));
    };
    let content_type = header::text(headers, "content-type", MAX_TYPE_BYTES)?.unwrap_or_default();
    let media_type = content_type.split(';').next().unwrap_or_default();
    if !media_type.trim().eq_ignore_ascii_case(FORM) {
        return Ok(Cow::Borrowed(body));
    }
    let mut values = form_urlencoded::parse(body).filter(|(name, _)| name == field);
    match (values.next(), values.next()) {
        (Some((_, value)), None) => Ok(Cow::Owned(value.into_owned().into_bytes())),
        (Some(_) | None, _) => Ok(Cow::Borrowed(&[])),
    }
}

fn content_id(body_sha256: &[u8; 32]) -> (String, IdOrigin) {
    (
        format!("sha256:{}", hex::encode(body_sha256)),
        IdOrigin::Content,
    )
}

/// Joins the scope, the kind of id and the id, so that no two keys give the same text.
fn scoped_id(
    headers: &HeaderMap,
    scope: &[&'static str],
    ids: &[(&'static str, &'static str)],
    body_sha256: &[u8; 32],
) -> Result<(String, IdOrigin), Refusal> {
    let mut key = String::new();
    for name in scope {
        let part = header::id(headers, name)?.unwrap_or_default();
        key.push_str(&part.replace('%', "%25").replace(':', "%3A"));
        key.push(':');
    }
    for (kind, name) in ids {
        let Some(id) = header::id(headers, name)? else {
            continue;
        };
        key.push_str(kind);
        key.push(':');
        key.push_str(&id.replace('%', "%25").replace(':', "%3A"));
        if key.len() > MAX_ID_BYTES {
            return Err(Refusal::IdTooLong {
                header: name,
                max: MAX_ID_BYTES,
            });
        }
        return Ok((key, IdOrigin::Unsigned));
    }
    // Two topics may well have the same body, so the scope belongs to this key too.
    key.push_str(&content_id(body_sha256).0);
    if key.len() > MAX_ID_BYTES {
        return Err(Refusal::IdTooLong {
            header: scope[0],
            max: MAX_ID_BYTES,
        });
    }
    Ok((key, IdOrigin::Content))
}

fn read_type(
    from: TypeFrom,
    headers: &HeaderMap,
    in_body: Option<Scalar>,
) -> Result<String, Refusal> {
    let in_body = text(in_body, MAX_TYPE_BYTES);
    let event_type = match from {
        TypeFrom::Body(_) => in_body,
        TypeFrom::Header(name) => header::text(headers, name, MAX_TYPE_BYTES)?.map(str::to_owned),
        TypeFrom::HeaderAndBody(name, _) => {
            header::text(headers, name, MAX_TYPE_BYTES)?.map(|head| match in_body {
                Some(tail) if head.len() + 1 + tail.len() <= MAX_TYPE_BYTES => {
                    format!("{head}.{tail}")
                }
                Some(_) | None => head.to_owned(),
            })
        }
    };
    Ok(event_type.unwrap_or_else(|| UNKNOWN_TYPE.to_owned()))
}

fn read_time(
    from: TimeFrom,
    headers: &HeaderMap,
    in_body: Option<Scalar>,
) -> Result<Option<i64>, Refusal> {
    Ok(match (from, in_body) {
        (TimeFrom::Header(name), _) => {
            header::text(headers, name, MAX_TYPE_BYTES)?.and_then(milliseconds)
        }
        (TimeFrom::Body(_), Some(Scalar::Text(text))) => milliseconds(&text),
        (TimeFrom::BodySeconds(_), Some(Scalar::Integer(seconds))) => seconds.checked_mul(1000),
        (TimeFrom::Nowhere | TimeFrom::Body(_) | TimeFrom::BodySeconds(_), _) => None,
    })
}

fn milliseconds(rfc3339: &str) -> Option<i64> {
    let nanoseconds = OffsetDateTime::parse(rfc3339, &Rfc3339)
        .ok()?
        .unix_timestamp_nanos();
    i64::try_from(nanoseconds.div_euclid(1_000_000)).ok()
}

/// The text of a JSON value, if it can serve as a name.
fn text(value: Option<Scalar>, max: usize) -> Option<String> {
    match value {
        Some(Scalar::Text(text)) if plain(&text) && text.len() <= max => Some(text),
        Some(Scalar::Text(_) | Scalar::Integer(_) | Scalar::Other) | None => None,
    }
}

impl IdFrom {
    fn path(self) -> Option<&'static str> {
        match self {
            Self::Body(path) => Some(path),
            Self::Carrier | Self::Header(_) | Self::Scoped { .. } => None,
        }
    }
}

impl TypeFrom {
    fn path(self) -> Option<&'static str> {
        match self {
            Self::Body(path) | Self::HeaderAndBody(_, path) => Some(path),
            Self::Header(_) => None,
        }
    }
}

impl TimeFrom {
    fn path(self) -> Option<&'static str> {
        match self {
            Self::Body(path) | Self::BodySeconds(path) => Some(path),
            Self::Nowhere | Self::Header(_) => None,
        }
    }
}
