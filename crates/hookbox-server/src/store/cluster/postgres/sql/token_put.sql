INSERT INTO hookbox.token (id, name, digest, created_at) VALUES ($1::uuid, $2::text, $3::bytea, $4::bigint)
