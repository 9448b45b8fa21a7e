SELECT message_id, endpoint_id, state, due_at, fence, failures, manual, cause
FROM delivery
WHERE endpoint_id = ?1 AND (failures > 0) = ?2 AND due_at <= ?3
ORDER BY due_at
LIMIT ?4
