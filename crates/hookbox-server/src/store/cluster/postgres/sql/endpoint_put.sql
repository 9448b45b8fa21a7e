INSERT INTO hookbox.endpoint (
    id, application_id, uid, url, description, throttle_rate, event_types, channels, source_id, trusted,
    disabled, metadata, headers, secrets, retry_schedule, created_at, updated_at
)
VALUES (
    $1::uuid, $2::uuid, $3::text, $4::text, $5::text, $6::bigint, $7::text, $8::text, $9::uuid, $10::boolean,
    $11::text, $12::text, $13::bytea, $14::bytea, $15::text, $16::bigint, $17::bigint
)
ON CONFLICT (id) DO UPDATE SET
    uid = excluded.uid, url = excluded.url, description = excluded.description,
    throttle_rate = excluded.throttle_rate, event_types = excluded.event_types, channels = excluded.channels,
    disabled = excluded.disabled, metadata = excluded.metadata, headers = excluded.headers,
    secrets = excluded.secrets, retry_schedule = excluded.retry_schedule, updated_at = excluded.updated_at
