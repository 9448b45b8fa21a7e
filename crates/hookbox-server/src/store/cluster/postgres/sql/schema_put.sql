INSERT INTO hookbox.migration (version, name, at) VALUES ($1::bigint, $2::text, $3::bigint)
