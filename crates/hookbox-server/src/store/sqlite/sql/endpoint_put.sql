INSERT INTO endpoint (
    id, application_id, uid, url, description, throttle_rate, event_types, channels, source_id, trusted,
    disabled, metadata, headers, secrets, retry_schedule, created_at, updated_at
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
ON CONFLICT (id) DO UPDATE SET
    uid = excluded.uid, url = excluded.url, description = excluded.description,
    throttle_rate = excluded.throttle_rate, event_types = excluded.event_types, channels = excluded.channels,
    disabled = excluded.disabled, metadata = excluded.metadata, headers = excluded.headers,
    secrets = excluded.secrets, retry_schedule = excluded.retry_schedule, updated_at = excluded.updated_at
