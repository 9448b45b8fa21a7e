SELECT id, uid, name, throttle_rate, metadata, created_at, updated_at
FROM hookbox.application
WHERE (id = $1::uuid OR uid = $2::text) AND deleted_at IS NULL
FOR UPDATE
