INSERT INTO hookbox.attempt (
    message_id, id, endpoint_id, url, at, duration_ms, status, response, error, succeeded, manual, late
)
SELECT *
FROM unnest(
    $1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bytea[],
    $9::text[], $10::boolean[], $11::boolean[], $12::boolean[]
)
ON CONFLICT DO NOTHING
