DELETE FROM receipt WHERE received_at < ?1 ORDER BY received_at LIMIT ?2
