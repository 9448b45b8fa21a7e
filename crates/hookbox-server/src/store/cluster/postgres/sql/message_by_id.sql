SELECT id, application_id, event_id, event_type, channels, content_type, payload, source_id, headers, quarantined,
    created_at
FROM hookbox.message
WHERE application_id = ANY ($1::uuid[]) AND id = ANY ($2::uuid[])
