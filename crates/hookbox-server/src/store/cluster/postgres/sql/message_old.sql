SELECT id
FROM hookbox.message_other AS message
WHERE id < $1::uuid AND NOT EXISTS (
    SELECT 1 FROM hookbox.delivery WHERE delivery.message_id = message.id AND delivery.state <> 'held'
)
LIMIT $2::bigint
