INSERT INTO receipt (
    `key`, variant, digest, source_id, event_id, message_id, received_at, seen
)
VALUES {(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)}
