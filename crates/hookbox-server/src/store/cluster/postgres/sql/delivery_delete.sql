DELETE FROM hookbox.delivery
USING unnest($1::uuid[], $2::uuid[]) AS gone (message_id, endpoint_id)
WHERE delivery.message_id = gone.message_id AND delivery.endpoint_id = gone.endpoint_id
