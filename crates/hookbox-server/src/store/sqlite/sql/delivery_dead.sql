SELECT
    delivery.message_id, delivery.endpoint_id, delivery.state, delivery.due_at, delivery.fence,
    delivery.failures, delivery.manual, delivery.cause, message.event_type, endpoint.url,
    attempt.message_id, attempt.id, attempt.endpoint_id, attempt.url, attempt.at, attempt.duration_ms,
    attempt.status, attempt.response, attempt.error, attempt.succeeded, attempt.manual, attempt.late
FROM delivery
JOIN message ON message.application_id = delivery.application_id AND message.id = delivery.message_id
JOIN endpoint ON endpoint.id = delivery.endpoint_id
LEFT JOIN attempt ON attempt.message_id = delivery.message_id AND attempt.id = (
    SELECT max(id) FROM attempt AS last
    WHERE last.message_id = delivery.message_id AND last.endpoint_id = delivery.endpoint_id
)
WHERE delivery.application_id = ?1 AND delivery.state = 'dead'
    AND (delivery.message_id, delivery.endpoint_id) > (?2, ?3)
    AND (delivery.message_id, delivery.endpoint_id) < (?4, ?5)
    AND (?6 IS NULL OR delivery.message_id = ?6)
    AND (?7 IS NULL OR delivery.endpoint_id = ?7)
ORDER BY delivery.message_id ASC, delivery.endpoint_id ASC
LIMIT ?8
