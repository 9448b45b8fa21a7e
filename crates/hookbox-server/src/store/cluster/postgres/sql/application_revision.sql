SELECT id, uid, revision
FROM hookbox.application
WHERE (id = ANY ($1::uuid[]) OR uid = ANY ($2::text[])) AND deleted_at IS NULL
