//! An answer of the API: its text as it came, and what it says.

use std::fmt;
use std::ops::Index;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// An answer. Its text is kept because reading it into values would change numbers such as `10.00`.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) text: String,
    value: Value,
}

impl Answer {
    /// Reads an answer; an empty one is `null`. `None` when it is no JSON.
    pub(super) fn read(status: u16, text: &[u8]) -> Option<Self> {
        let text = match str::from_utf8(text).ok()? {
            "" => "null",
            text => text,
        };
        let value = serde_json::from_str(text).ok();
        let value = value.or_else(|| {
            // A payload may hold a number that no value here can: it is shown as its text.
            let fields = serde_json::from_str::<Fields<'_>>(text).ok()?.0;
            Some(Value::Object(fields.into_iter().map(field).collect()))
        })?;
        Some(Self {
            status,
            text: text.to_owned(),
            value,
        })
    }

    pub(super) fn value(&self) -> &Value {
        &self.value
    }

    /// The fields of an object in the order and spelling of the answer.
    pub(super) fn fields(&self) -> Vec<(String, &str)> {
        let fields = serde_json::from_str(&self.text).unwrap_or(Fields(Vec::new()));
        fields
            .0
            .into_iter()
            .map(|(name, raw)| (name, raw.get()))
            .collect()
    }
}

fn field((name, raw): (String, &RawValue)) -> (String, Value) {
    let value = serde_json::from_str(raw.get());
    (name, value.unwrap_or_else(|_| raw.get().into()))
}

impl From<Value> for Answer {
    fn from(value: Value) -> Self {
        Self {
            status: 200,
            text: value.to_string(),
            value,
        }
    }
}

impl Index<&str> for Answer {
    type Output = Value;

    fn index(&self, field: &str) -> &Value {
        &self.value[field]
    }
}

/// The fields of an object, unread.
#[derive(Debug)]
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;

        impl<'de> Visitor<'de> for Each {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_as_they_are() {
        let text = r#"{"z":"a","payload":{"n":1e400,"m":10.00}}"#;
        let answer = Answer::read(200, text.as_bytes()).unwrap();
        assert_eq!(answer["z"], "a");
        assert_eq!(answer.text, text);
        assert_eq!(
            answer.fields()[1],
            ("payload".to_owned(), r#"{"n":1e400,"m":10.00}"#)
        );
        assert_eq!(Answer::read(204, b"").unwrap().text, "null");
        assert!(Answer::read(200, b"<html>").is_none());
    }
}
