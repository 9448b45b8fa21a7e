SELECT name, description, archived, deprecated, schemas, feature_flags, group_name, created_at, updated_at
FROM hookbox.event_type
WHERE name > $1::text AND name < $2::text AND ($3::boolean OR NOT archived)
ORDER BY name ASC
LIMIT $4::bigint
