SELECT 'innodb_flush_log_at_trx_commit', CAST(@@global.innodb_flush_log_at_trx_commit AS CHAR)
UNION ALL SELECT 'innodb_doublewrite', CASE WHEN CAST(@@global.innodb_doublewrite AS CHAR) IN ('0', 'OFF') THEN 'OFF' ELSE 'ON' END
