INSERT INTO receipt (source_id, event_id, digest, message_id, received_at, seen) VALUES (?1, ?2, ?3, ?4, ?5, 1)
