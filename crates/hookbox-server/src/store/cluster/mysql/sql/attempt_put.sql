INSERT INTO attempt (
    message_id, id, endpoint_id, url, at, duration_ms, status, response, error, succeeded, manual, late
)
VALUES {(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)}
ON DUPLICATE KEY UPDATE id = id
