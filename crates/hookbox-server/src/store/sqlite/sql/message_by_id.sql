SELECT id, application_id, event_id, event_type, channels, content_type, payload, source_id, headers, quarantined,
    created_at
FROM message
WHERE id = ?1
