//! Reads a body within bounds of size and time.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;

use super::answer::Refused;

/// Reads the whole body, at most `cap` bytes of it, for at most `patience`.
///
/// A body that declares itself too large is refused unread.
pub(super) async fn read(
    headers: &HeaderMap,
    body: Body,
    cap: usize,
    patience: Duration,
) -> Result<Bytes, Refused> {
    let declared = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > cap) {
        return Err(Refused::TooLarge);
    }
    tokio::time::timeout(patience, collect(body, cap))
        .await
        .map_err(|_| Refused::TooSlow)?
}

async fn collect(mut body: Body, cap: usize) -> Result<Bytes, Refused> {
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Refused::Unreadable)?.into_data() else {
            continue;
        };
        if first.len() + whole.len() + data.len() > cap {
            return Err(Refused::TooLarge);
        }
        // Most bodies come in one piece, which is kept as it is.
        if first.is_empty() && whole.is_empty() {
            first = data;
        } else {
            whole.extend_from_slice(&std::mem::take(&mut first));
            whole.extend_from_slice(&data);
        }
    }
    Ok(if whole.is_empty() {
        first
    } else {
        whole.freeze()
    })
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    async fn read_parts(parts: &[&'static str], cap: usize) -> Result<Bytes, Refused> {
        let frames: Vec<Result<_, std::io::Error>> = parts
            .iter()
            .map(|part| {
                Ok(hyper::body::Frame::data(Bytes::from_static(
                    part.as_bytes(),
                )))
            })
            .collect();
        let body = Body::new(http_body_util::StreamBody::new(futures_util::stream::iter(
            frames,
        )));
        read(&HeaderMap::new(), body, cap, Duration::from_secs(1)).await
    }

    #[tokio::test]
    async fn joins_the_parts_and_stops_at_the_cap() {
        assert_eq!(read_parts(&[], 3).await.unwrap(), "");
        assert_eq!(read_parts(&["", "ab", "", "c"], 3).await.unwrap(), "abc");
        assert_eq!(read_parts(&["ab", "cd"], 3).await, Err(Refused::TooLarge));
    }
}
