SELECT receipt.event_id, receipt.digest, receipt.message_id, receipt.received_at, receipt.seen
FROM hookbox.message
JOIN hookbox.receipt ON receipt.key = sha256(uuid_send(message.source_id) || message.source_event_id)
    AND receipt.message_id = message.id
WHERE message.application_id = (SELECT application_id FROM hookbox.source WHERE id = $1::uuid)
    AND message.id > $2::uuid AND message.id < $3::uuid AND message.source_id = $1
ORDER BY message.id ASC
LIMIT $4::bigint
