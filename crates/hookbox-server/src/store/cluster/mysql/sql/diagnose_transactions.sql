SELECT count(*), max(timestampdiff(SECOND, trx_started, now()))
FROM information_schema.innodb_trx
WHERE trx_started < now() - INTERVAL 5 MINUTE
