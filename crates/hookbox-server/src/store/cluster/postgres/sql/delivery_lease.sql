UPDATE hookbox.delivery SET state = 'leased', lease_until = due.lease_until, fence = fence + 1
FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS due (message_id, endpoint_id, lease_until)
WHERE delivery.message_id = due.message_id AND delivery.endpoint_id = due.endpoint_id
