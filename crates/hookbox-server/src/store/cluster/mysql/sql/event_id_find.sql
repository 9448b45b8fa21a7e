SELECT `key`, message_id FROM event_id WHERE `key` IN ({?1})
