SELECT message_id, endpoint_id, state, coalesce(lease_until, due_at), fence, failures, manual, NULL AS cause
FROM hookbox.delivery
WHERE message_id = $1::uuid AND endpoint_id = $2::uuid
FOR UPDATE
