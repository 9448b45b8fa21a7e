DELETE FROM settled WHERE message_id IN ({?1})
