SELECT id, application_id, event_id, event_type, channels, content_type, payload, source_id, headers, quarantined,
    created_at
FROM message
WHERE application_id = ?1 AND id = coalesce((SELECT message_id FROM event_id WHERE `key` = ?3), ?2)
