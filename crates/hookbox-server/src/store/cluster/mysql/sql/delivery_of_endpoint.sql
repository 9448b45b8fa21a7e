SELECT message_id, endpoint_id, application_id, fence, failures
FROM delivery
WHERE endpoint_id = ?1
LIMIT ?2
FOR UPDATE
