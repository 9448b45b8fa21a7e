SELECT id, application_id, event_id, event_type, channels, content_type, payload, source_id, headers, quarantined,
    created_at
FROM message
WHERE application_id = ?1 AND id > ?2 AND id < ?3
    AND (?4 IS NULL OR JSON_CONTAINS(?4, JSON_QUOTE(event_type)))
    AND (?5 IS NULL OR JSON_CONTAINS(channels, JSON_QUOTE(?5)))
ORDER BY id ASC
LIMIT ?6
