DELETE FROM delivery WHERE message_id = ?1
