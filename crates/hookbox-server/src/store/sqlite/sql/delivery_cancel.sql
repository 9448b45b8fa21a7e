UPDATE delivery SET state = 'cancelled', due_at = NULL
WHERE endpoint_id = ?1 AND message_id IN (
    SELECT message_id FROM delivery WHERE endpoint_id = ?1 AND due_at IS NOT NULL
    UNION ALL
    SELECT message_id FROM delivery WHERE endpoint_id = ?1 AND state = 'held'
)
