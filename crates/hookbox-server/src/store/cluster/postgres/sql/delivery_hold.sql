UPDATE hookbox.delivery SET state = 'held', due_at = NULL
WHERE endpoint_id = $1::uuid AND due_at IS NOT NULL AND state = 'scheduled'
