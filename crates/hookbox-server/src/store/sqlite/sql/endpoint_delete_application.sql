UPDATE endpoint SET deleted_at = ?2, updated_at = ?2 WHERE application_id = ?1 AND deleted_at IS NULL
