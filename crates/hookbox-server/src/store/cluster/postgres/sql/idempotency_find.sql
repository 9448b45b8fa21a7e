SELECT key, request, status, body, at FROM hookbox.idempotency WHERE key = ANY ($1::bytea[])
