UPDATE application SET deleted_at = ?2, updated_at = ?2, revision = revision + 1
WHERE id = ?1 AND deleted_at IS NULL
