UPDATE delivery SET
    state = iif(endpoint.disabled IS NULL, 'scheduled', 'held'),
    due_at = iif(endpoint.disabled IS NULL, ?4, NULL),
    failures = 0, manual = 1, cause = NULL
FROM endpoint
WHERE endpoint.id = delivery.endpoint_id AND endpoint.deleted_at IS NULL
    AND delivery.application_id = ?1 AND delivery.state = 'dead'
    AND (?2 IS NULL OR delivery.message_id = ?2)
    AND (?3 IS NULL OR delivery.endpoint_id = ?3)
