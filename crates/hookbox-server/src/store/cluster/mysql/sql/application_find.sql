SELECT id, uid, name, throttle_rate, metadata, created_at, updated_at
FROM application
WHERE (id = ?1 OR live_uid = ?2) AND deleted_at IS NULL
