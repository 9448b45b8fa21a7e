INSERT INTO hookbox.source (
    id, name, application_id, provider, secrets, rules, from_file, created_at, updated_at
)
VALUES (
    $1::uuid, $2::text, $3::uuid, $4::text, $5::bytea, $6::text, $7::boolean, $8::bigint, $9::bigint
)
ON CONFLICT (id) DO UPDATE SET
    provider = excluded.provider, secrets = excluded.secrets, rules = excluded.rules,
    from_file = excluded.from_file, updated_at = excluded.updated_at
