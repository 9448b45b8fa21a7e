INSERT INTO hookbox.message (
    id, application_id, event_id, event_type, channels, content_type, payload, source_id, source_event_id,
    headers, quarantined, created_at
)
SELECT *
FROM unnest(
    $1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::uuid[], $9::bytea[],
    $10::bytea[], $11::boolean[], $12::bigint[]
)
