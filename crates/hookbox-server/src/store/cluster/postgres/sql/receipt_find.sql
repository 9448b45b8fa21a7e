SELECT key, variant, digest, message_id FROM hookbox.receipt WHERE key = ANY ($1::bytea[])
