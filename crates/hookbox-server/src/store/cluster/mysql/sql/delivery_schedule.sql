UPDATE delivery
JOIN (
    {SELECT CAST(?1 AS BINARY(16)) AS message_id, CAST(?2 AS BINARY(16)) AS endpoint_id, ?3 AS due_at, ?4 AS failures,
        ?5 AS manual}
) AS next ON delivery.message_id = next.message_id AND delivery.endpoint_id = next.endpoint_id
SET
    delivery.state = CASE WHEN next.due_at IS NULL THEN 'held' ELSE 'scheduled' END,
    delivery.due_at = next.due_at, delivery.lease_until = NULL, delivery.failures = next.failures,
    delivery.manual = next.manual
