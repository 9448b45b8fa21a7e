SELECT id, name, application_id, provider, secrets, rules, from_file, created_at, updated_at
FROM source
WHERE name = ?1 AND deleted_at IS NULL
