SELECT message_id, endpoint_id, state, NULL::bigint AS due_at, fence, failures, false AS manual, cause
FROM hookbox.settled
WHERE message_id = $1::uuid AND endpoint_id = $2::uuid
FOR UPDATE
