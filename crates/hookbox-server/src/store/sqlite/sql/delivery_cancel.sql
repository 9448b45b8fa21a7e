UPDATE delivery SET state = 'cancelled', due_at = NULL
WHERE endpoint_id = ?1 AND (due_at IS NOT NULL OR state = 'held')
