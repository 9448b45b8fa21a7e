DELETE FROM idempotency WHERE key IN (SELECT key FROM idempotency WHERE at < ?1 ORDER BY at LIMIT ?2)
