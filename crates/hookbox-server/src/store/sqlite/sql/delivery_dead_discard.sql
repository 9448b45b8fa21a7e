UPDATE delivery SET state = 'cancelled', cause = NULL
WHERE application_id = ?1 AND state = 'dead'
    AND (?2 IS NULL OR message_id = ?2)
    AND (?3 IS NULL OR endpoint_id = ?3)
    AND ?4 IS NOT NULL
