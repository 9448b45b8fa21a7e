SELECT count(*) FROM delivery WHERE message_id >= ?1 AND message_id < ?2 AND state <> 'held'
