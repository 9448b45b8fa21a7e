INSERT INTO source (
    id, name, application_id, provider, secrets, rules, from_file, created_at, updated_at
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (id) DO UPDATE SET
    provider = excluded.provider, secrets = excluded.secrets, rules = excluded.rules,
    from_file = excluded.from_file, updated_at = excluded.updated_at
