SELECT
    settled.message_id, settled.endpoint_id, settled.state, NULL::bigint AS due_at, settled.fence,
    settled.failures, false AS manual, settled.cause, message.event_type, endpoint.url,
    attempt.message_id, attempt.id, attempt.endpoint_id, attempt.url, attempt.at, attempt.duration_ms,
    attempt.status, attempt.response, attempt.error, attempt.succeeded, attempt.manual, attempt.late
FROM hookbox.settled
JOIN hookbox.message ON message.application_id = settled.application_id AND message.id = settled.message_id
JOIN hookbox.endpoint ON endpoint.id = settled.endpoint_id
LEFT JOIN LATERAL (
    SELECT * FROM hookbox.attempt
    WHERE attempt.message_id = settled.message_id AND attempt.endpoint_id = settled.endpoint_id
    ORDER BY attempt.id DESC
    LIMIT 1
) AS attempt ON true
WHERE settled.application_id = $1::uuid AND settled.state = 'dead'
    AND (settled.message_id, settled.endpoint_id) > ($2::uuid, $3::uuid)
    AND (settled.message_id, settled.endpoint_id) < ($4::uuid, $5::uuid)
    AND ($6::uuid IS NULL OR settled.message_id = $6)
    AND ($7::uuid IS NULL OR settled.endpoint_id = $7)
ORDER BY settled.message_id ASC, settled.endpoint_id ASC
LIMIT $8::bigint
