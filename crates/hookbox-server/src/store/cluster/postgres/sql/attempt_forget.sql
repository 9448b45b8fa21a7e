DELETE FROM hookbox.attempt WHERE message_id = ANY ($1::uuid[])
