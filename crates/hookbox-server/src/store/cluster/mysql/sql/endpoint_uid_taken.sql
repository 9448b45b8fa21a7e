SELECT EXISTS (
    SELECT 1 FROM endpoint
    WHERE application_id = ?1 AND uid = ?2 AND id <> ?3 AND deleted_at IS NULL
)
