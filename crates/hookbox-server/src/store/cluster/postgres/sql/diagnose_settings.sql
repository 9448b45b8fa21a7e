SELECT name::text, setting::text FROM pg_settings
WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'autovacuum', 'max_wal_size', 'max_connections',
    'superuser_reserved_connections', 'idle_in_transaction_session_timeout', 'default_transaction_read_only')
UNION ALL SELECT 'in_recovery', CASE WHEN pg_is_in_recovery() THEN 'on' ELSE 'off' END
UNION ALL SELECT 'no right to write', CASE
    WHEN to_regclass('hookbox.message') IS NULL THEN 'off'
    WHEN has_table_privilege(to_regclass('hookbox.message'), 'INSERT')
        AND has_table_privilege(to_regclass('hookbox.delivery'), 'UPDATE') THEN 'off'
    ELSE 'on' END
