SELECT message_id, endpoint_id, state, due_at, fence, failures, manual, cause
FROM delivery
WHERE message_id = ?1 AND endpoint_id = ?2
