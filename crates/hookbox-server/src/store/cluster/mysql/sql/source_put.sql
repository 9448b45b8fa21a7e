INSERT INTO source (
    id, name, application_id, provider, secrets, rules, from_file, created_at, updated_at
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON DUPLICATE KEY UPDATE
    id = IF(id = VALUES(id), id, NULL), provider = VALUES(provider), secrets = VALUES(secrets), rules = VALUES(rules),
    from_file = VALUES(from_file), updated_at = VALUES(updated_at)
