UPDATE settled SET state = 'cancelled', cause = NULL
WHERE dead_of = ?1
    AND (?2 IS NULL OR message_id = ?2)
    AND (?3 IS NULL OR endpoint_id = ?3)
