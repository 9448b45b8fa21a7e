SELECT message_id, endpoint_id, application_id, fence, failures
FROM hookbox.delivery
WHERE endpoint_id = $1::uuid
LIMIT $2::bigint
FOR UPDATE
