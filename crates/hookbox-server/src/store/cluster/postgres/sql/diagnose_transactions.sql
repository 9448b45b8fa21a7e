SELECT count(*), max(extract(epoch FROM clock_timestamp() - began))::bigint
FROM (
    SELECT xact_start AS began FROM pg_stat_activity WHERE backend_type = 'client backend'
    UNION ALL SELECT prepared FROM pg_prepared_xacts
) AS open
WHERE began < clock_timestamp() - interval '5 minutes'
