INSERT INTO hookbox.application (id, uid, name, throttle_rate, metadata, created_at, updated_at)
VALUES ($1::uuid, $2::text, $3::text, $4::bigint, $5::text, $6::bigint, $7::bigint)
ON CONFLICT (id) DO UPDATE SET
    uid = excluded.uid, name = excluded.name, throttle_rate = excluded.throttle_rate,
    metadata = excluded.metadata, updated_at = excluded.updated_at, revision = application.revision + 1
