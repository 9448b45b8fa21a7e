DELETE FROM hookbox.settled WHERE message_id = ANY ($1::uuid[])
