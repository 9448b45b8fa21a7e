SELECT id
FROM message
WHERE id < ?1 AND NOT EXISTS (
    SELECT 1 FROM delivery WHERE delivery.message_id = message.id AND delivery.state <> 'held'
)
LIMIT ?2
