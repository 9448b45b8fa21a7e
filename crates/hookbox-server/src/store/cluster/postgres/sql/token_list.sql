SELECT id, name, digest, created_at
FROM hookbox.token
WHERE id > $1::uuid AND id < $2::uuid
ORDER BY id ASC
LIMIT $3::bigint
