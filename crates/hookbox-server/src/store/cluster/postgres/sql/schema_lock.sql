SELECT 1 FROM (SELECT pg_advisory_xact_lock(7309940833)) AS locked
