DELETE FROM idempotency WHERE `key` IN ({?1}) AND at < ?2
