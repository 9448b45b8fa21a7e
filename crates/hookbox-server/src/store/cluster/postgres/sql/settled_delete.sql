DELETE FROM hookbox.settled
USING unnest($1::uuid[], $2::uuid[]) AS gone (message_id, endpoint_id)
WHERE settled.message_id = gone.message_id AND settled.endpoint_id = gone.endpoint_id
