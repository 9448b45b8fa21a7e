UPDATE receipt SET seen = seen + 1 WHERE source_id = ?1 AND event_id = ?2 AND digest = ?3
