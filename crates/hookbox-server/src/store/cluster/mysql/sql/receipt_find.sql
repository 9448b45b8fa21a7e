SELECT `key`, variant, digest, message_id FROM receipt WHERE `key` IN ({?1})
