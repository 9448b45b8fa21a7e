//! The `idempotency-key`: a request that comes again gets the answer that it got.

use axum::http::{HeaderMap, Method, Uri};
use sha2::{Digest, Sha256};

use super::Fault;
use super::auth::Caller;

/// The caller's key, if it sent one.
pub(super) fn key(headers: &HeaderMap) -> Result<Option<&[u8]>, Fault> {
    let mut all = headers.get_all("idempotency-key").iter();
    let Some(value) = all.next() else {
        return Ok(None);
    };
    if all.next().is_some() || value.is_empty() || value.len() > 255 {
        return Err(Fault::Unclear(
            "Send one idempotency-key of 1 to 255 characters.".into(),
        ));
    }
    Ok(Some(value.as_bytes()))
}

/// Digest of the caller and the key: two callers may use the same key.
pub(super) fn key_digest(caller: Caller, key: &[u8]) -> [u8; 32] {
    Sha256::new()
        .chain_update(caller.bytes())
        .chain_update(key)
        .finalize()
        .into()
}

/// Digest of what is asked. A method or an address holds no line break, so the parts cannot run together.
pub(super) fn request_digest(method: &Method, uri: &Uri, body: &[u8]) -> [u8; 32] {
    Sha256::new()
        .chain_update(method.as_str())
        .chain_update("\n")
        .chain_update(uri.path())
        .chain_update("\n")
        .chain_update(uri.query().unwrap_or_default())
        .chain_update("\n")
        .chain_update(body)
        .finalize()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TokenId;

    #[test]
    fn a_key_has_1_to_255_characters() {
        let sent = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append("idempotency-key", value.parse().unwrap());
            }
            key(&headers).map(|key| key.map(<[u8]>::len))
        };
        assert_eq!(sent(&[]), Ok(None));
        assert_eq!(sent(&[&"k".repeat(255)]), Ok(Some(255)));
        for values in [&[""][..], &[&"k".repeat(256)], &["a", "a"]] {
            assert!(matches!(sent(values), Err(Fault::Unclear(_))));
        }
    }

    #[test]
    fn every_part_counts() {
        let digest = |method, uri: &str, body: &str| {
            request_digest(&method, &uri.parse().unwrap(), body.as_bytes())
        };
        let one = digest(Method::POST, "/a?b", "c");
        for other in [
            digest(Method::PUT, "/a?b", "c"),
            digest(Method::POST, "/a", "b\nc"),
            digest(Method::POST, "/a?c", "c"),
            digest(Method::POST, "/a?b", "d"),
        ] {
            assert_ne!(one, other);
        }
        let token = Caller::Token(TokenId([1; 16]));
        assert_ne!(key_digest(Caller::Admin, b"k"), key_digest(token, b"k"));
    }
}
