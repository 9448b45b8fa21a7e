INSERT INTO hookbox.delivery (
    message_id, endpoint_id, application_id, state, due_at, lease_until, fence, failures, manual, bytes
)
SELECT *
FROM unnest(
    $1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
    $9::boolean[], $10::bigint[]
)
