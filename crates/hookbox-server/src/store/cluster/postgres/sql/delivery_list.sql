SELECT
    endpoint.id, endpoint.application_id, endpoint.uid, endpoint.url, endpoint.description,
    endpoint.throttle_rate, endpoint.event_types, endpoint.channels, endpoint.source_id, endpoint.trusted,
    endpoint.disabled, endpoint.metadata, endpoint.headers, endpoint.secrets, endpoint.retry_schedule,
    endpoint.created_at, endpoint.updated_at, delivery.message_id, delivery.endpoint_id, delivery.state,
    delivery.due_at, delivery.fence, delivery.failures, delivery.manual, delivery.cause
FROM (
    SELECT message_id, endpoint_id, state, coalesce(lease_until, due_at) AS due_at, fence, failures, manual,
        NULL AS cause
    FROM hookbox.delivery
    WHERE message_id = $1::uuid
    UNION ALL
    SELECT message_id, endpoint_id, state, NULL, fence, failures, false, cause
    FROM hookbox.settled
    WHERE message_id = $1
) AS delivery
JOIN hookbox.endpoint ON endpoint.id = delivery.endpoint_id
WHERE delivery.endpoint_id > $2::uuid AND delivery.endpoint_id < $3::uuid
ORDER BY delivery.endpoint_id ASC
LIMIT $4::bigint
