INSERT INTO hookbox.event_type (
    name, description, archived, deprecated, schemas, feature_flags, group_name, created_at, updated_at
)
VALUES (
    $1::text, $2::text, $3::boolean, $4::boolean, $5::text, $6::text, $7::text, $8::bigint, $9::bigint
)
ON CONFLICT (name) DO UPDATE SET
    description = excluded.description, archived = excluded.archived, deprecated = excluded.deprecated,
    schemas = excluded.schemas, feature_flags = excluded.feature_flags, group_name = excluded.group_name,
    created_at = excluded.created_at, updated_at = excluded.updated_at
