DELETE FROM receipt
WHERE (source_id, event_id, digest) IN (
    SELECT source_id, event_id, digest FROM receipt WHERE received_at < ?1 ORDER BY received_at LIMIT ?2
)
