SELECT id, uid, name, throttle_rate, metadata, created_at, updated_at
FROM hookbox.application
WHERE id > $1::uuid AND id < $2::uuid AND deleted_at IS NULL
ORDER BY id ASC
LIMIT $3::bigint
