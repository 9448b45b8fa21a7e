DELETE FROM attempt WHERE message_id IN ({?1})
