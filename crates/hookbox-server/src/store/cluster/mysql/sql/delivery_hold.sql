UPDATE delivery SET state = 'held', due_at = NULL
WHERE endpoint_id = ?1 AND due_at IS NOT NULL AND state = 'scheduled'
