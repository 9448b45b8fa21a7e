UPDATE upkeep SET until = 0, done_at = ?3 WHERE job = ?1 AND node = ?2
