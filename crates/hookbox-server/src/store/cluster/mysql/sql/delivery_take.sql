-- Locks them: they are deleted with the rest of what is written, for MySQL cannot return what it deletes.
SELECT message_id, endpoint_id, fence, application_id
FROM delivery
WHERE message_id IN ({?1}) AND (message_id, endpoint_id, fence) IN ({(?1, ?2, ?3)}) AND state = 'leased'
ORDER BY message_id, endpoint_id
FOR UPDATE
