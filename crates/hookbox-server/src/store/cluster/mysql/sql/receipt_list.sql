SELECT receipt.event_id, receipt.digest, receipt.message_id, receipt.received_at, receipt.seen
FROM message
JOIN receipt ON receipt.`key` = UNHEX(SHA2(CONCAT(message.source_id, message.source_event_id), 256))
    AND receipt.message_id = message.id
WHERE message.application_id = (SELECT application_id FROM source WHERE id = ?1)
    AND message.id > ?2 AND message.id < ?3 AND message.source_id = ?1
ORDER BY message.id ASC
LIMIT ?4
