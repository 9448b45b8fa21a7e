DELETE FROM attempt WHERE message_id = ?1
