DELETE FROM idempotency WHERE at < ?1 ORDER BY at LIMIT ?2
