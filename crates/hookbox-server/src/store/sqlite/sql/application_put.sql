INSERT INTO application (id, uid, name, throttle_rate, metadata, created_at, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (id) DO UPDATE SET
    uid = excluded.uid, name = excluded.name, throttle_rate = excluded.throttle_rate,
    metadata = excluded.metadata, updated_at = excluded.updated_at
