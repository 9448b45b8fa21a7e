INSERT INTO hookbox.upkeep (job, node, until) VALUES ($1::text, $2::text, $3::bigint)
ON CONFLICT (job) DO UPDATE SET node = excluded.node, until = excluded.until
WHERE upkeep.node = excluded.node OR upkeep.until <= $4::bigint
