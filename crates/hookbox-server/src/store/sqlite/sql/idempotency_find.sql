SELECT request, status, body FROM idempotency WHERE key = ?1 AND at >= ?2
