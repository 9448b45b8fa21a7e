INSERT OR REPLACE INTO event_type (
    name, description, archived, deprecated, schemas, feature_flags, group_name, created_at, updated_at
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
