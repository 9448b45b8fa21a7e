//! How the bytes of a signature are written in a header.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// A strict encoding: each signature has exactly one spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Lower case only, as the providers write it and their own libraries compare it.
    Hex,
    /// The standard alphabet, padded, without stray bits at the end.
    Base64,
}

impl Encoding {
    /// The bytes, if `text` spells exactly `length` of them.
    pub(crate) fn decode(self, text: &str, length: usize) -> Option<Vec<u8>> {
        // Before decoding, so that a long header costs nothing.
        if text.len() != self.encoded_len(length) {
            return None;
        }
        let bytes = match self {
            Self::Hex if text.bytes().any(|byte| byte.is_ascii_uppercase()) => None,
            Self::Hex => hex::decode(text).ok(),
            Self::Base64 => STANDARD.decode(text).ok(),
        }?;
        (bytes.len() == length).then_some(bytes)
    }

    fn encoded_len(self, bytes: usize) -> usize {
        match self {
            Self::Hex => bytes * 2,
            Self::Base64 => bytes.div_ceil(3) * 4,
        }
    }
}
