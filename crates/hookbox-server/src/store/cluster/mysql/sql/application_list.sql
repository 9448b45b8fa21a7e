SELECT id, uid, name, throttle_rate, metadata, created_at, updated_at
FROM application
WHERE id > ?1 AND id < ?2 AND deleted_at IS NULL
ORDER BY id ASC
LIMIT ?3
