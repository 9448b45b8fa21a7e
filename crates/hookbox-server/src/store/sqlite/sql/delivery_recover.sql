UPDATE delivery SET state = 'scheduled', due_at = ?1 WHERE due_at IS NOT NULL AND state = 'leased'
