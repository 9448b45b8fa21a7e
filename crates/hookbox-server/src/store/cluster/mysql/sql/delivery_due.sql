SELECT message_id, endpoint_id, state, coalesce(lease_until, due_at), fence, failures, manual, NULL AS cause,
    application_id, bytes
FROM delivery
WHERE endpoint_id = ?1 AND retry = ?2 AND due_at <= ?3 AND (lease_until IS NULL OR lease_until <= ?3)
ORDER BY due_at
LIMIT ?4
FOR UPDATE SKIP LOCKED
