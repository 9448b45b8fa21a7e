SELECT child.relname::text
FROM pg_inherits
JOIN pg_class AS child ON child.oid = pg_inherits.inhrelid
JOIN pg_class AS parent ON parent.oid = pg_inherits.inhparent
JOIN pg_namespace ON pg_namespace.oid = parent.relnamespace
WHERE pg_namespace.nspname = 'hookbox' AND parent.relname IN ('message', 'settled', 'attempt')
ORDER BY child.relname
