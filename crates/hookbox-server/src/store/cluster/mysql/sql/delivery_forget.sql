DELETE FROM delivery WHERE message_id IN ({?1})
