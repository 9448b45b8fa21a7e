//! Reading one header, strictly.

use http::{HeaderMap, HeaderValue};

use crate::error::Refusal;

/// The longest id of an event, in bytes.
pub const MAX_ID_BYTES: usize = 1024;

/// The longest type of an event, in bytes.
pub const MAX_TYPE_BYTES: usize = 256;

/// The value of a header that may be there once.
pub(crate) fn single<'h>(
    headers: &'h HeaderMap,
    name: &'static str,
) -> Result<Option<&'h HeaderValue>, Refusal> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        (_, Some(_)) => Err(Refusal::DuplicateHeader { header: name }),
    }
}

/// An id; an empty one counts as absent.
pub(crate) fn id<'h>(
    headers: &'h HeaderMap,
    name: &'static str,
) -> Result<Option<&'h str>, Refusal> {
    let Some(value) = single(headers, name)?.filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    if value.len() > MAX_ID_BYTES {
        return Err(Refusal::IdTooLong {
            header: name,
            max: MAX_ID_BYTES,
        });
    }
    let text = value.to_str().ok().filter(|text| plain(text));
    text.map(Some).ok_or(Refusal::IdMalformed { header: name })
}

/// An id that is part of the signed content.
///
/// It must be there. It may not have the full stop that ends it in the signed content, or
/// one signature would fit two different splits of the same bytes.
pub(crate) fn signed_id<'h>(
    headers: &'h HeaderMap,
    name: &'static str,
) -> Result<&'h str, Refusal> {
    let text = id(headers, name)?.ok_or(Refusal::IdMissing { header: name })?;
    if text.contains('.') {
        return Err(Refusal::IdMalformed { header: name });
    }
    Ok(text)
}

/// A short text that describes the event; an empty one counts as absent.
pub(crate) fn text<'h>(
    headers: &'h HeaderMap,
    name: &'static str,
    max: usize,
) -> Result<Option<&'h str>, Refusal> {
    let Some(value) = single(headers, name)?.filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let text = value
        .to_str()
        .ok()
        .filter(|text| plain(text) && text.len() <= max);
    text.map(Some)
        .ok_or(Refusal::HeaderMalformed { header: name })
}

/// Whether a text can serve as a name: not empty, and nothing in it that a database or a
/// terminal cannot take (`PostgreSQL` stores no NUL).
pub(crate) fn plain(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(char::is_control)
}
