SELECT id, application_id, uid, url, description, throttle_rate, event_types, channels, source_id, trusted,
    disabled, metadata, headers, secrets, retry_schedule, created_at, updated_at
FROM hookbox.endpoint
WHERE application_id = $1::uuid AND (id = $2::uuid OR uid = $3::text) AND deleted_at IS NULL
