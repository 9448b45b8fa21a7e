SELECT `key`, request, status, body, at FROM idempotency WHERE `key` IN ({?1})
