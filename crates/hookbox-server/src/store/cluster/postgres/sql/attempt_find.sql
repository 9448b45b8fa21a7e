SELECT
    message_id, id, endpoint_id, url, at, duration_ms, status, response, error, succeeded, manual, late
FROM hookbox.attempt
WHERE message_id = $1::uuid AND id = $2::uuid
