SELECT message_id, endpoint_id, state, due_at, fence, failures, manual, cause
FROM delivery
WHERE endpoint_id = ?1 AND due_at <= ?2
ORDER BY due_at
LIMIT ?3
