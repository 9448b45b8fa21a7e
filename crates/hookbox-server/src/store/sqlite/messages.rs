//! Messages in `SQLite`.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::SqliteStore;
use super::rows::{Blob, Bounds, from_json, json, listing};
use crate::model::{ApplicationId, Message, MessageId, SourceId};
use crate::store::{Error, Listing, MessageFilter, Page, Result};

/// Headers as they go over the wire: a line each. Names hold no colon, values no line end.
pub(super) fn write_headers(headers: &[(String, Vec<u8>)]) -> Vec<u8> {
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

pub(super) fn read(row: &Row<'_>) -> Result<Message> {
    let channels: Option<String> = row.get(4)?;
    let headers: Option<Vec<u8>> = row.get(8)?;
    Ok(Message {
        id: MessageId(row.get::<_, Blob<16>>(0)?.0),
        application_id: ApplicationId(row.get::<_, Blob<16>>(1)?.0),
        event_id: row.get(2)?,
        event_type: row.get(3)?,
        channels: channels
            .map(|text| from_json(&text))
            .transpose()?
            .unwrap_or_default(),
        content_type: row.get(5)?,
        payload: row.get::<_, Vec<u8>>(6)?.into(),
        source: row.get::<_, Option<Blob<16>>>(7)?.map(|id| SourceId(id.0)),
        headers: headers.as_deref().map(read_headers).unwrap_or_default(),
        quarantined: row.get(9)?,
        created_at: row.get(10)?,
    })
}

pub(super) fn by_id(db: &Connection, application: ApplicationId, id: MessageId) -> Result<Message> {
    db.prepare_cached(include_str!("sql/message_by_id.sql"))?
        .query_row(params![Blob(application.0), Blob(id.0)], |row| {
            Ok(read(row))
        })
        .optional()?
        .ok_or(Error::NotFound("message"))?
}

impl SqliteStore {
    pub(super) async fn message(&self, application: ApplicationId, key: &str) -> Result<Message> {
        let key = key.to_owned();
        self.read(move |db| {
            let id = key.parse().unwrap_or(MessageId([0; 16]));
            db.prepare_cached(include_str!("sql/message_find.sql"))?
                .query_row(params![Blob(application.0), Blob(id.0), key], |row| {
                    Ok(read(row))
                })
                .optional()?
                .ok_or(Error::NotFound("message"))?
        })
        .await
    }

    pub(super) async fn messages(
        &self,
        application: ApplicationId,
        filter: MessageFilter,
        page: Page<MessageId>,
    ) -> Result<Listing<Message>> {
        self.read(move |db| {
            let bounds = Bounds::of(&page).within(&filter);
            let mut statement =
                db.prepare_cached(&bounds.ordered(include_str!("sql/message_list.sql")))?;
            let rows = statement.query_and_then(
                params![
                    Blob(application.0),
                    Blob(bounds.above.0),
                    Blob(bounds.below.0),
                    filter.event_types.as_ref().map(json),
                    filter.channel,
                    bounds.limit
                ],
                read,
            )?;
            Ok(listing(&page, rows.collect::<Result<_>>()?))
        })
        .await
    }
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
