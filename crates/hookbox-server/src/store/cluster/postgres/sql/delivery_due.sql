SELECT message_id, endpoint_id, state, coalesce(lease_until, due_at), fence, failures, manual, NULL AS cause,
    application_id, bytes
FROM hookbox.delivery
WHERE endpoint_id = $1::uuid AND least(failures, 1) = $2::boolean::integer AND due_at <= $3::bigint
    AND (lease_until IS NULL OR lease_until <= $3)
ORDER BY due_at
LIMIT $4::bigint
FOR UPDATE SKIP LOCKED
