SELECT
    settled.message_id, settled.endpoint_id, settled.state, NULL AS due_at, settled.fence,
    settled.failures, 0 AS manual, settled.cause, message.event_type, endpoint.url,
    attempt.message_id, attempt.id, attempt.endpoint_id, attempt.url, attempt.at, attempt.duration_ms,
    attempt.status, attempt.response, attempt.error, attempt.succeeded, attempt.manual, attempt.late
FROM settled
JOIN message ON message.application_id = settled.application_id AND message.id = settled.message_id
JOIN endpoint ON endpoint.id = settled.endpoint_id
LEFT JOIN attempt ON attempt.message_id = settled.message_id AND attempt.id = (
    SELECT max(last.id) FROM attempt AS last
    WHERE last.message_id = settled.message_id AND last.endpoint_id = settled.endpoint_id
)
WHERE settled.dead_of = ?1
    AND settled.message_id >= ?2 AND (settled.message_id, settled.endpoint_id) > (?2, ?3)
    AND settled.message_id <= ?4 AND (settled.message_id, settled.endpoint_id) < (?4, ?5)
    AND (?6 IS NULL OR settled.message_id = ?6)
    AND (?7 IS NULL OR settled.endpoint_id = ?7)
ORDER BY settled.message_id ASC, settled.endpoint_id ASC
LIMIT ?8
