SELECT event_id, digest, message_id, received_at, seen
FROM receipt
WHERE source_id = ?1 AND message_id > ?2 AND message_id < ?3
ORDER BY message_id ASC
LIMIT ?4
