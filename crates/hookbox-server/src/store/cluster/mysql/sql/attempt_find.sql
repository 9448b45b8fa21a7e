SELECT
    message_id, id, endpoint_id, url, at, duration_ms, status, response, error, succeeded, manual, late
FROM attempt
WHERE message_id = ?1 AND id = ?2
