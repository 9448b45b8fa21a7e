INSERT INTO event_type (
    name, description, archived, deprecated, `schemas`, feature_flags, group_name, created_at, updated_at
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON DUPLICATE KEY UPDATE
    description = VALUES(description), archived = VALUES(archived), deprecated = VALUES(deprecated), `schemas` =
    VALUES(`schemas`), feature_flags = VALUES(feature_flags), group_name = VALUES(group_name), created_at =
    VALUES(created_at), updated_at = VALUES(updated_at)
