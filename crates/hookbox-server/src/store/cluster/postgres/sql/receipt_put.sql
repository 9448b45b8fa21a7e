INSERT INTO hookbox.receipt (key, variant, digest, source_id, event_id, message_id, received_at, seen)
SELECT *
FROM unnest(
    $1::bytea[], $2::bigint[], $3::bytea[], $4::uuid[], $5::bytea[], $6::uuid[], $7::bigint[], $8::bigint[]
)
