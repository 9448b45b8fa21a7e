UPDATE delivery SET state = 'scheduled', due_at = ?2
WHERE endpoint_id = ?1 AND due_at IS NULL
