SELECT digest, message_id FROM receipt WHERE source_id = ?1 AND event_id = ?2
