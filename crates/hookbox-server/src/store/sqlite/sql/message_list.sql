SELECT id, application_id, event_id, event_type, channels, content_type, payload, source_id, headers, quarantined,
    created_at
FROM message
WHERE application_id = ?1 AND id > ?2 AND id < ?3
    AND (?4 IS NULL OR event_type IN (SELECT value FROM json_each(?4)))
    AND (?5 IS NULL OR EXISTS (SELECT 1 FROM json_each(channels) WHERE value = ?5))
ORDER BY id ASC
LIMIT ?6
