UPDATE delivery SET state = ?4, due_at = ?5, failures = ?6, manual = ?7, cause = ?8
WHERE message_id = ?1 AND endpoint_id = ?2 AND fence = ?3 AND state = 'leased'
