INSERT INTO message (
    id, application_id, event_id, event_type, channels, content_type, payload, source_id, source_event_id, headers,
    quarantined, created_at
)
VALUES {(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)}
