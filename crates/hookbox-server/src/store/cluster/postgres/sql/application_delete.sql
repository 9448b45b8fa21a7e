UPDATE hookbox.application SET deleted_at = $2::bigint, updated_at = $2, revision = revision + 1
WHERE id = $1::uuid AND deleted_at IS NULL
