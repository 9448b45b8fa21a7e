UPDATE hookbox.delivery SET
    state = CASE WHEN next.due_at IS NULL THEN 'held' ELSE 'scheduled' END, due_at = next.due_at, lease_until = NULL,
    failures = next.failures, manual = next.manual
FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::boolean[])
    AS next (message_id, endpoint_id, due_at, failures, manual)
WHERE delivery.message_id = next.message_id AND delivery.endpoint_id = next.endpoint_id
