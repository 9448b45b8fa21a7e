SELECT pg_advisory_xact_lock(7309940833)::text
