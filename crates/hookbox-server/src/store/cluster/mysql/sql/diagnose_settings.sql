-- MySQL and MariaDB name the isolation differently: each reads its own comment.
SELECT 'innodb_flush_log_at_trx_commit', CAST(@@global.innodb_flush_log_at_trx_commit AS CHAR)
UNION ALL SELECT 'innodb_doublewrite', CASE WHEN CAST(@@global.innodb_doublewrite AS CHAR) IN ('0', 'OFF') THEN 'off' ELSE 'on' END
UNION ALL SELECT 'log_bin', CASE WHEN @@global.log_bin THEN 'on' ELSE 'off' END
UNION ALL SELECT 'sync_binlog', CAST(@@global.sync_binlog AS CHAR)
UNION ALL SELECT 'read_only', CASE WHEN @@global.read_only THEN 'on' ELSE 'off' END
UNION ALL SELECT 'max_allowed_packet', CAST(@@global.max_allowed_packet AS CHAR)
UNION ALL SELECT 'max_connections', CAST(@@global.max_connections AS CHAR)
UNION ALL SELECT 'sql_mode', CAST(@@session.sql_mode AS CHAR)
UNION ALL SELECT 'isolation', CAST(/*M! @@session.tx_isolation */ /*!80000 @@session.transaction_isolation */ AS CHAR)
