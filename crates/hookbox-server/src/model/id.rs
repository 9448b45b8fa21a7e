//! Identifiers: a `UUIDv7`, shown as a prefix and 32 hexadecimal digits.
//!
//! The digits are those that SQL shows for the stored bytes (`hex(id)` in `SQLite`), so a person can go
//! from an id in a log to its row. They hold no `.`, which Standard Webhooks' signed content requires.

use std::fmt;
use std::str::FromStr;
use std::sync::{LazyLock, Mutex};

use serde::{Serialize, Serializer};
use uuid::{ContextV7, Timestamp, Uuid};

use super::Time;

/// Counts within a millisecond, so that ids made one after the other by this process sort that way.
static ORDER: LazyLock<Mutex<ContextV7>> = LazyLock::new(|| Mutex::new(ContextV7::new()));

fn next_uuid(now: Time) -> [u8; 16] {
    let seconds = u64::try_from(now.0.div_euclid(1000)).unwrap_or(0);
    let nanos = u32::try_from(now.0.rem_euclid(1000)).unwrap_or(0) * 1_000_000;
    let order = ORDER
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    *Uuid::new_v7(Timestamp::from_unix(&*order, seconds, nanos)).as_bytes()
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; 16]);

        impl $name {
            /// What its text begins with.
            pub const PREFIX: &'static str = $prefix;

            /// A new id, later in order than every one this process made before.
            #[must_use]
            pub fn new(now: Time) -> Self {
                Self(next_uuid(now))
            }

            /// The first id of a moment: everything made at or after `at` sorts from here on.
            #[must_use]
            pub fn first_at(at: Time) -> Self {
                let mut bytes = [0; 16];
                bytes[..6].copy_from_slice(&at.0.max(0).to_be_bytes()[2..]);
                Self(bytes)
            }

            /// The moment that it was made at.
            #[must_use]
            pub fn made_at(self) -> Time {
                let mut bytes = [0; 8];
                bytes[2..].copy_from_slice(&self.0[..6]);
                Time(i64::from_be_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut digits = [0; 32];
                let text = hex::encode_to_slice(self.0, &mut digits).ok().and_then(|()| str::from_utf8(&digits).ok());
                write!(f, "{}{}", $prefix, text.unwrap_or_default())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                let digits = text.strip_prefix($prefix).ok_or(NotAnId)?;
                let mut bytes = [0; 16];
                hex::decode_to_slice(digits, &mut bytes).map_err(|_| NotAnId)?;
                Ok(Self(bytes))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}

/// The text is not an id of the kind asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an id of this kind")]
pub struct NotAnId;

id!(
    /// Names an application.
    ApplicationId, "app_"
);
id!(
    /// Names an endpoint.
    EndpointId, "ep_"
);
id!(
    /// Names a message; sent as `webhook-id` on every try.
    MessageId, "msg_"
);
id!(
    /// Names an attempt.
    AttemptId, "atmpt_"
);
id!(
    /// Names a source.
    SourceId, "src_"
);
id!(
    /// Names an API token.
    TokenId, "tok_"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_knows_when_it_was_made() {
        for moment in [Time(0), Time(1_700_000_000_123)] {
            assert_eq!(MessageId::first_at(moment).made_at(), moment);
        }
        assert!(MessageId::new(Time(5)).made_at() >= Time(5));
    }

    #[test]
    fn text_goes_there_and_back() {
        let id = MessageId::new(Time(1_700_000_000_000));
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.to_string().len(), 36);
        for text in [
            "",
            "msg_",
            "ep_018bcfe5687b7fff8000000000000000",
            "msg_zz",
            "msg_018bcfe5687b7fff80000000000000000",
        ] {
            assert_eq!(text.parse::<MessageId>(), Err(NotAnId), "{text}");
        }
    }

    #[test]
    fn later_ids_sort_later() {
        let now = Time(1_700_000_000_000);
        let ids: Vec<_> = (0..10_000).map(|_| MessageId::new(now)).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(MessageId::first_at(now) <= ids[0]);
        // No upper bound: after ids of a later moment, which other tests make, these go on from there.
        assert!(MessageId::first_at(now) < MessageId::first_at(Time(now.0 + 1)));
    }
}
