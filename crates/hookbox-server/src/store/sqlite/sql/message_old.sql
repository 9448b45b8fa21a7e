SELECT
    rowid, id,
    EXISTS (
        SELECT 1 FROM delivery
        WHERE delivery.message_id = message.id AND delivery.state IN ('scheduled', 'leased')
    )
FROM message
WHERE rowid > ?1
ORDER BY rowid
LIMIT ?2
