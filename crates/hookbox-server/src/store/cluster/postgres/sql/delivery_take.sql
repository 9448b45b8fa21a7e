DELETE FROM hookbox.delivery
USING unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS done (message_id, endpoint_id, fence)
WHERE delivery.message_id = done.message_id AND delivery.endpoint_id = done.endpoint_id
    AND delivery.fence = done.fence AND delivery.state = 'leased'
RETURNING delivery.message_id, delivery.endpoint_id, delivery.fence, delivery.application_id
