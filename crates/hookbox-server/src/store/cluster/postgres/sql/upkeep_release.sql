UPDATE hookbox.upkeep SET until = 0, done_at = $3::bigint WHERE job = $1::text AND node = $2::text
