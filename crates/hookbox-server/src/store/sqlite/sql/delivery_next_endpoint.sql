SELECT
    endpoint_id,
    (SELECT min(due_at) FROM delivery
        WHERE endpoint_id = next.endpoint_id AND (failures > 0) = 0 AND due_at IS NOT NULL),
    (SELECT min(due_at) FROM delivery
        WHERE endpoint_id = next.endpoint_id AND (failures > 0) = 1 AND due_at IS NOT NULL)
FROM delivery AS next
WHERE due_at IS NOT NULL AND endpoint_id > ?1
ORDER BY endpoint_id
LIMIT 1
