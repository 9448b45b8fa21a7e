WITH RECURSIVE waiting AS (
    (
        SELECT endpoint_id FROM hookbox.delivery
        WHERE endpoint_id > $1::uuid AND due_at IS NOT NULL
        ORDER BY endpoint_id
        LIMIT 1
    )
    UNION ALL
    SELECT (
        SELECT delivery.endpoint_id FROM hookbox.delivery
        WHERE delivery.endpoint_id > waiting.endpoint_id AND delivery.due_at IS NOT NULL
        ORDER BY delivery.endpoint_id
        LIMIT 1
    )
    FROM waiting
    WHERE waiting.endpoint_id IS NOT NULL
)
SELECT waiting.endpoint_id, first.due_at, again.due_at, application.revision
FROM waiting
LEFT JOIN hookbox.endpoint ON endpoint.id = waiting.endpoint_id AND endpoint.deleted_at IS NULL
LEFT JOIN hookbox.application ON application.id = endpoint.application_id
LEFT JOIN LATERAL (
    SELECT due_at FROM hookbox.delivery
    WHERE delivery.endpoint_id = waiting.endpoint_id AND least(delivery.failures, 1) = 0
        AND delivery.due_at IS NOT NULL AND (lease_until IS NULL OR lease_until <= $2::bigint)
    ORDER BY delivery.due_at
    LIMIT 1
) AS first ON true
LEFT JOIN LATERAL (
    SELECT due_at FROM hookbox.delivery
    WHERE delivery.endpoint_id = waiting.endpoint_id AND least(delivery.failures, 1) = 1
        AND delivery.due_at IS NOT NULL AND (lease_until IS NULL OR lease_until <= $2)
    ORDER BY delivery.due_at
    LIMIT 1
) AS again ON true
WHERE waiting.endpoint_id IS NOT NULL
LIMIT $3::bigint
