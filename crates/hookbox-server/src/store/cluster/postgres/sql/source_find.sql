SELECT id, name, application_id, provider, secrets, rules, from_file, created_at, updated_at
FROM hookbox.source
WHERE name = $1::text AND deleted_at IS NULL
