DELETE FROM hookbox.delivery WHERE message_id = ANY ($1::uuid[])
