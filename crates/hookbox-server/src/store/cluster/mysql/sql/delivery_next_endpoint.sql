SELECT waiting.endpoint_id,
    (
        SELECT min(due_at) FROM delivery
        WHERE delivery.endpoint_id = waiting.endpoint_id AND retry = 0 AND due_at IS NOT NULL
            AND (lease_until IS NULL OR lease_until <= ?2)
    ),
    (
        SELECT min(due_at) FROM delivery
        WHERE delivery.endpoint_id = waiting.endpoint_id AND retry = 1 AND due_at IS NOT NULL
            AND (lease_until IS NULL OR lease_until <= ?2)
    ),
    application.revision
FROM (
    SELECT DISTINCT endpoint_id FROM delivery
    WHERE endpoint_id > ?1
    ORDER BY endpoint_id
    LIMIT ?3
) AS waiting
LEFT JOIN endpoint ON endpoint.id = waiting.endpoint_id AND endpoint.deleted_at IS NULL
LEFT JOIN application ON application.id = endpoint.application_id
ORDER BY waiting.endpoint_id
