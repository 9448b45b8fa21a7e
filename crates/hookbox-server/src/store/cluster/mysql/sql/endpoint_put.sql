INSERT INTO endpoint (
    id, application_id, uid, url, description, throttle_rate, event_types, channels, source_id, trusted,
    disabled, metadata, headers, secrets, retry_schedule, created_at, updated_at
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
ON DUPLICATE KEY UPDATE
    id = IF(id = VALUES(id), id, NULL),
    uid = VALUES(uid), url = VALUES(url), description = VALUES(description), throttle_rate =
    VALUES(throttle_rate), event_types = VALUES(event_types), channels = VALUES(channels), disabled =
    VALUES(disabled), metadata = VALUES(metadata), headers = VALUES(headers), secrets = VALUES(secrets),
    retry_schedule = VALUES(retry_schedule), updated_at = VALUES(updated_at)
