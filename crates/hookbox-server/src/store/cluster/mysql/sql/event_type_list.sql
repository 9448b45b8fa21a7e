SELECT name, description, archived, deprecated, `schemas`, feature_flags, group_name, created_at, updated_at
FROM event_type
WHERE name > ?1 AND name < ?2 AND (?3 OR NOT archived)
ORDER BY name ASC
LIMIT ?4
