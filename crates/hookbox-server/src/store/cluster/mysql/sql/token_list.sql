SELECT id, name, digest, created_at
FROM token
WHERE id > ?1 AND id < ?2
ORDER BY id ASC
LIMIT ?3
