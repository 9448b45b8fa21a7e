SELECT id, application_id, event_id, event_type, channels, content_type, payload, source_id, headers, quarantined,
    created_at
FROM hookbox.message
WHERE application_id = $1::uuid
    AND id IN ($2::uuid, (SELECT message_id FROM hookbox.event_id WHERE key = $3::bytea))
