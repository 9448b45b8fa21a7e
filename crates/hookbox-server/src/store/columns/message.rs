//! Messages in columns.

use super::{Columns, Value, json};
use crate::model::{ApplicationId, Message, MessageId, SourceId};
use crate::store::Result;

pub(in crate::store) fn read(row: &impl Columns) -> Result<Message> {
    Ok(Message {
        id: MessageId(row.blob(0)?),
        application_id: ApplicationId(row.blob(1)?),
        event_id: row.text(2)?,
        event_type: row.string(3)?,
        channels: row.optional_json(4)?.unwrap_or_default(),
        content_type: row.string(5)?,
        payload: row.bytes(6)?.unwrap_or_default().into(),
        source: row.optional_blob(7)?.map(SourceId),
        headers: row
            .bytes(8)?
            .as_deref()
            .map(read_headers)
            .unwrap_or_default(),
        quarantined: row.flag(9)?,
        created_at: row.time(10)?,
    })
}

/// The columns of a message, with the provider's name for its event, as bytes.
pub(in crate::store) fn write<'a>(
    message: &'a Message,
    source_event_id: Option<&'a str>,
) -> [Value<'a>; 12] {
    let channels = (!message.channels.is_empty()).then(|| json(&message.channels));
    let headers = (!message.headers.is_empty()).then(|| write_headers(&message.headers));
    [
        (&message.id.0).into(),
        (&message.application_id.0).into(),
        message.event_id.as_ref().into(),
        (&message.event_type).into(),
        channels.into(),
        (&message.content_type).into(),
        message.payload[..].into(),
        message.source.as_ref().map(|id| &id.0).into(),
        source_event_id.map(str::as_bytes).into(),
        headers.into(),
        message.quarantined.into(),
        message.created_at.into(),
    ]
}

/// Headers as they go over the wire: a line each. Names hold no colon, values no line end.
fn write_headers(headers: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, value) in headers {
        text.extend_from_slice(name.as_bytes());
        text.push(b':');
        text.extend_from_slice(value);
        text.push(b'\n');
    }
    text
}

fn read_headers(text: &[u8]) -> Vec<(String, Vec<u8>)> {
    let lines = text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    lines
        .filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some((
                String::from_utf8_lossy(&line[..colon]).into_owned(),
                line[colon + 1..].to_vec(),
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_go_there_and_back() {
        let headers = vec![
            ("a".to_owned(), b"1:2, \xff".to_vec()),
            ("b".to_owned(), Vec::new()),
        ];
        assert_eq!(read_headers(&write_headers(&headers)), headers);
        assert_eq!(read_headers(b""), vec![]);
    }
}
