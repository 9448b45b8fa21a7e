//! Picking a few members out of a JSON document without keeping the rest.
//!
//! The rest is skipped without recursion, so a document may be nested as deep as it likes.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A value that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scalar {
    Text(String),
    Integer(i64),
    /// There, but neither a text nor a whole number.
    Other,
}

/// Looks for the value at each path (`a.b` is the member `b` of the member `a`).
///
/// Nothing is found in a document that is not JSON from its first byte to its last. What
/// is there twice is not found either: readers differ on which one they take.
pub(super) fn read<const N: usize>(
    document: &[u8],
    paths: [Option<&str>; N],
) -> [Option<Scalar>; N] {
    let mut found = [const { Found::Never }; N];
    let wanted: Vec<_> = paths
        .iter()
        .enumerate()
        .filter_map(|(slot, path)| Some((slot, (*path)?)))
        .collect();
    if wanted.is_empty() {
        return [const { None }; N];
    }
    let mut deserializer = serde_json::Deserializer::from_slice(document);
    let node = Node {
        wanted,
        found: &mut found,
    };
    if node
        .deserialize(&mut deserializer)
        .and_then(|()| deserializer.end())
        .is_err()
    {
        return [const { None }; N];
    }
    found.map(|found| match found {
        Found::Once(value) => Some(value),
        Found::Never | Found::Twice => None,
    })
}

enum Found {
    Never,
    Once(Scalar),
    Twice,
}

/// One value of the document, and what is wanted of it: the slot to fill, and the rest of
/// the path, which is empty where the value itself is wanted.
struct Node<'a> {
    wanted: Vec<(usize, &'a str)>,
    found: &'a mut [Found],
}

impl Node<'_> {
    fn record(&mut self, value: &Scalar) {
        for (slot, _) in self.wanted.iter().filter(|(_, path)| path.is_empty()) {
            let slot = &mut self.found[*slot];
            *slot = match slot {
                Found::Never => Found::Once(value.clone()),
                Found::Once(_) | Found::Twice => Found::Twice,
            };
        }
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        self.record(&Scalar::Other);
        while let Some(key) = map.next_key::<String>()? {
            let inner: Vec<_> = self
                .wanted
                .iter()
                .filter_map(|(slot, path)| step(*slot, path, &key))
                .collect();
            if inner.is_empty() {
                map.next_value::<IgnoredAny>()?;
            } else {
                map.next_value_seed(Node {
                    wanted: inner,
                    found: &mut *self.found,
                })?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        self.record(&Scalar::Other);
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_str<E>(mut self, text: &str) -> Result<(), E> {
        self.record(&Scalar::Text(text.to_owned()));
        Ok(())
    }

    fn visit_i64<E>(mut self, number: i64) -> Result<(), E> {
        self.record(&Scalar::Integer(number));
        Ok(())
    }

    fn visit_u64<E>(mut self, number: u64) -> Result<(), E> {
        self.record(&i64::try_from(number).map_or(Scalar::Other, Scalar::Integer));
        Ok(())
    }

    fn visit_f64<E>(mut self, _: f64) -> Result<(), E> {
        self.record(&Scalar::Other);
        Ok(())
    }

    fn visit_bool<E>(mut self, _: bool) -> Result<(), E> {
        self.record(&Scalar::Other);
        Ok(())
    }

    fn visit_unit<E>(mut self) -> Result<(), E> {
        self.record(&Scalar::Other);
        Ok(())
    }
}

/// What is wanted of the value under `key`, if `path` leads through it.
fn step<'a>(slot: usize, path: &'a str, key: &str) -> Option<(usize, &'a str)> {
    let (head, rest) = path.split_once('.').unwrap_or((path, ""));
    (!path.is_empty() && head == key).then_some((slot, rest))
}
