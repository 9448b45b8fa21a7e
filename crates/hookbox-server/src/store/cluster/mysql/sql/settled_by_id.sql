SELECT message_id, endpoint_id, state, NULL AS due_at, fence, failures, 0 AS manual, cause
FROM settled
WHERE message_id = ?1 AND endpoint_id = ?2
FOR UPDATE
