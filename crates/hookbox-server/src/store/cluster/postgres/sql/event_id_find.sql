SELECT key, message_id FROM hookbox.event_id WHERE key = ANY ($1::bytea[])
