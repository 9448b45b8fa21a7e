SELECT endpoint_id, due_at FROM delivery
WHERE due_at IS NOT NULL AND endpoint_id > ?1
ORDER BY endpoint_id, due_at
LIMIT 1
