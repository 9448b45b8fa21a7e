SELECT
    attempt.message_id, attempt.id, attempt.endpoint_id, attempt.url, attempt.at, attempt.duration_ms,
    attempt.status, attempt.response, attempt.error, attempt.succeeded, attempt.manual, attempt.late
FROM attempt
JOIN message ON message.application_id = ?4 AND message.id = attempt.message_id
WHERE attempt.endpoint_id = ?1 AND attempt.id > ?2 AND attempt.id < ?3
    AND (?5 IS NULL OR attempt.message_id = ?5)
    AND (?6 IS NULL OR attempt.succeeded = ?6)
    AND (?7 IS NULL OR coalesce(attempt.status, 0) DIV 100 = ?7 DIV 100)
    AND (?8 IS NULL OR JSON_CONTAINS(?8, JSON_QUOTE(message.event_type)))
    AND (?9 IS NULL OR JSON_CONTAINS(message.channels, JSON_QUOTE(?9)))
ORDER BY attempt.id ASC
LIMIT ?10
