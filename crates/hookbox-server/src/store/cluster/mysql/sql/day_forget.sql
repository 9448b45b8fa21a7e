DELETE FROM delivery WHERE message_id >= ?1 AND message_id < ?2
