SELECT id, application_id, uid, url, description, throttle_rate, event_types, channels, source_id, trusted,
    disabled, metadata, headers, secrets, retry_schedule, created_at, updated_at
FROM endpoint
WHERE id = ?1 AND deleted_at IS NULL
