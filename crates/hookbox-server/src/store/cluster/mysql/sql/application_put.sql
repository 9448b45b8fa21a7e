INSERT INTO application (
    id, uid, name, throttle_rate, metadata, created_at, updated_at
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON DUPLICATE KEY UPDATE
    id = IF(id = VALUES(id), id, NULL),
    uid = VALUES(uid), name = VALUES(name), throttle_rate = VALUES(throttle_rate), metadata = VALUES(metadata),
    updated_at = VALUES(updated_at), revision = revision + 1
