SELECT name, description, archived, deprecated, schemas, feature_flags, group_name, created_at, updated_at
FROM hookbox.event_type
WHERE name = $1::text
