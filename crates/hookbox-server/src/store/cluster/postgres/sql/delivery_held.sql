SELECT delivery.message_id, delivery.endpoint_id, delivery.fence, delivery.application_id
FROM hookbox.delivery
JOIN unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS held (message_id, endpoint_id, fence)
    ON delivery.message_id = held.message_id AND delivery.endpoint_id = held.endpoint_id
    AND delivery.fence = held.fence AND delivery.state = 'leased'
ORDER BY delivery.message_id, delivery.endpoint_id
FOR UPDATE OF delivery
