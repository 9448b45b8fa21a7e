SELECT id, application_id, uid, url, description, throttle_rate, event_types, channels, source_id, trusted,
    disabled, metadata, headers, secrets, retry_schedule, created_at, updated_at
FROM hookbox.endpoint
WHERE source_id = $1::uuid AND deleted_at IS NULL
ORDER BY id
