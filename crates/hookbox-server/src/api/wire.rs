//! What comes over the wire: fields, taken one by one, and the rules that all resources share.
//!
//! Fields stay what the caller wrote until they are taken, so a payload keeps its exact bytes, and a field
//! that is absent differs from one that is `null`. A field that nobody takes is refused.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::Fault;
use crate::model::application::Metadata;

/// How deeply values may be nested.
const DEEPEST: usize = 128;
/// The longest text of any field, in bytes.
const LONGEST_TEXT: usize = 65_536;
/// The longest name.
const LONGEST_NAME: usize = 256;
/// The most bytes of metadata, as JSON.
const MOST_METADATA: usize = 4096;

/// The fields of a body that nobody has taken yet.
#[derive(Debug)]
pub(super) struct Fields<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Fields<'a> {
    /// No fields.
    pub(super) fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// Reads a body.
    pub(super) fn read(body: &'a [u8]) -> Result<Self, Fault> {
        if too_deep(body) {
            return Err(Fault::Unclear("The body is nested too deeply.".into()));
        }
        serde_json::from_slice(body)
            .map(Self)
            .map_err(|error| match error.classify() {
                Category::Data => Fault::field("", "must be an object"),
                Category::Io | Category::Syntax | Category::Eof => {
                    let (line, column) = (error.line(), error.column());
                    let text =
                        format!("The body is not JSON from line {line}, column {column} on.");
                    Fault::Unclear(text.into())
                }
            })
    }

    /// A field as it was written; none when it is `null`.
    pub(super) fn raw(&mut self, name: &str) -> Option<&'a RawValue> {
        self.0.remove(name).filter(|raw| raw.get() != "null")
    }

    /// Whether this field came and no other.
    pub(super) fn is_only(&self, name: &str) -> bool {
        self.0.len() == 1 && self.0.contains_key(name)
    }

    /// Whether a field did not come, or as `null`.
    pub(super) fn is_absent(&self, name: &str) -> bool {
        self.0.get(name).is_none_or(|raw| raw.get() == "null")
    }

    /// A field of the type that `what` names.
    pub(super) fn take<T: Deserialize<'a>>(
        &mut self,
        name: &'static str,
        what: &str,
    ) -> Result<Sent<T>, Fault> {
        let Some(raw) = self.0.remove(name) else {
            return Ok(Sent::Absent);
        };
        if raw.get() == "null" {
            return Ok(Sent::Null);
        }
        // The parser's own words would repeat the value.
        let wrong = |_| Fault::field(name, format!("must be {what}"));
        serde_json::from_str(raw.get())
            .map(Sent::Value)
            .map_err(wrong)
    }

    /// A text.
    pub(super) fn text(&mut self, name: &'static str) -> Result<Sent<String>, Fault> {
        self.take::<String>(name, "a text")?
            .checked(name, |text| plain(text))
    }

    /// `true` or `false`.
    pub(super) fn flag(&mut self, name: &'static str) -> Result<Sent<bool>, Fault> {
        self.take(name, "true or false")
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, name: &'static str) -> Result<Sent<Vec<String>>, Fault> {
        let texts = self.take::<Vec<String>>(name, "a list of texts")?;
        texts.checked(name, |texts| texts.iter().try_for_each(|text| plain(text)))
    }

    /// The name that a user gives to a thing whose ids begin with `prefix`.
    pub(super) fn uid(&mut self, name: &'static str, prefix: &str) -> Result<Sent<String>, Fault> {
        self.text(name)?.checked(name, |text| uid(text, prefix))
    }

    /// Deliveries a second, under its new or its old name.
    pub(super) fn throttle_rate(&mut self) -> Result<Sent<u16>, Fault> {
        let mut read = |name| {
            let rate = self.take::<u16>(name, "a whole number from 1 to 65535")?;
            rate.checked(name, |rate| match rate {
                0 => Err("must be a whole number from 1 to 65535".to_owned()),
                _ => Ok(()),
            })
        };
        Ok(read("throttleRate")?.or(read("rateLimit")?))
    }

    /// The user's own notes.
    pub(super) fn metadata(&mut self) -> Result<Sent<Metadata>, Fault> {
        let notes = self.take::<Metadata>("metadata", "an object of texts")?;
        notes.checked("metadata", |notes| {
            notes
                .iter()
                .try_for_each(|(name, value)| plain(name).and(plain(value)))?;
            match serde_json::to_vec(notes) {
                Ok(json) if json.len() <= MOST_METADATA => Ok(()),
                _ => Err(format!("must be at most {MOST_METADATA} bytes as JSON")),
            }
        })
    }

    /// Refuses what nobody took: a caller who misspells a field, or means to set what is not theirs to set,
    /// learns of it.
    pub(super) fn finish(self) -> Result<(), Fault> {
        match self.0.into_keys().next() {
            // Longer names would only repeat what was sent.
            Some(name) if is_name(&name) => Err(Fault::field(name, "is no field of this request")),
            Some(_) => Err(Fault::field("", "has a field that is none of this request")),
            None => Ok(()),
        }
    }
}

/// A field, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sent<T> {
    /// It did not come.
    Absent,
    /// It came as `null`.
    Null,
    /// It came.
    Value(T),
}

impl<T> Sent<T> {
    /// Refuses a value that breaks a rule.
    pub(super) fn checked(
        self,
        name: &'static str,
        rule: impl FnOnce(&T) -> Result<(), String>,
    ) -> Result<Self, Fault> {
        if let Self::Value(value) = &self {
            rule(value).map_err(|problem| Fault::field(name, problem))?;
        }
        Ok(self)
    }

    /// This field, or where it did not come, the other.
    pub(super) fn or(self, other: Self) -> Self {
        match self {
            Self::Absent => other,
            Self::Null | Self::Value(_) => self,
        }
    }

    /// The value, for a field where `null` means no more than its absence.
    pub(super) fn value(self) -> Option<T> {
        match self {
            Self::Absent | Self::Null => None,
            Self::Value(value) => Some(value),
        }
    }

    /// The value, for a field that must come.
    pub(super) fn required(self, name: &'static str) -> Result<T, Fault> {
        self.value()
            .ok_or_else(|| Fault::field(name, "is required"))
    }

    /// Changes what is kept: `null` clears it, absence leaves it alone.
    pub(super) fn write_to(self, kept: &mut Option<T>) {
        match self {
            Self::Absent => {}
            Self::Null => *kept = None,
            Self::Value(value) => *kept = Some(value),
        }
    }

    /// Changes what is kept, where there is no such thing as none.
    pub(super) fn replace(self, kept: &mut T) {
        if let Self::Value(value) = self {
            *kept = value;
        }
    }
}

/// A text that every database can hold.
pub(super) fn plain(text: &str) -> Result<(), String> {
    if text.contains('\0') {
        return Err("must not contain NUL".to_owned());
    }
    if text.len() > LONGEST_TEXT {
        return Err(format!("must be at most {LONGEST_TEXT} bytes long"));
    }
    Ok(())
}

/// A text that says something.
pub(super) fn not_empty(text: &str) -> Result<(), String> {
    match text {
        "" => Err("must not be empty".to_owned()),
        _ => Ok(()),
    }
}

/// Whether a text can be a name: letters, digits, `-`, `_` and `.`, at most 256 of them.
pub(super) fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(fits)
}

/// A name.
pub(super) fn name(text: &str) -> Result<(), String> {
    match is_name(text) {
        true => Ok(()),
        false => Err(format!(
            "must be 1 to {LONGEST_NAME} letters, digits, '-', '_' or '.'"
        )),
    }
}

/// A name that cannot be taken for an id.
pub(super) fn uid(text: &str, prefix: &str) -> Result<(), String> {
    name(text)?;
    // A client would drop these from an address before sending it.
    if text == "." || text == ".." {
        return Err("must not be '.' or '..'".to_owned());
    }
    if text.starts_with(prefix) {
        return Err(format!("must not begin with '{prefix}', as ids do"));
    }
    Ok(())
}

/// The name of an event type: parts with dots between them.
pub(super) fn event_type(text: &str) -> Result<(), String> {
    name(text)?;
    if text.split('.').any(str::is_empty) {
        return Err("must have something before, between and after its dots".to_owned());
    }
    Ok(())
}

/// Channels: `most` at the most, and where there are any, at least one.
pub(super) fn channels(channels: &[String], most: usize) -> Result<(), String> {
    const LONGEST: usize = 128;
    if channels.is_empty() || channels.len() > most {
        return Err(format!("must be 1 to {most} channels"));
    }
    match channels
        .iter()
        .all(|channel| is_name(channel) && channel.len() <= LONGEST)
    {
        true => Ok(()),
        false => Err(format!(
            "must each be 1 to {LONGEST} letters, digits, '-', '_' or '.'"
        )),
    }
}

/// Whether JSON is nested deeper than is sensible. The parser only skips what stays raw, at any depth.
fn too_deep(json: &[u8]) -> bool {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
