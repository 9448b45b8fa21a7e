UPDATE delivery SET state = 'leased', due_at = ?3, fence = ?4 WHERE message_id = ?1 AND endpoint_id = ?2
