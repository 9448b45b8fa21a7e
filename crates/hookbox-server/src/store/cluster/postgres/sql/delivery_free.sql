UPDATE hookbox.delivery SET state = 'scheduled', due_at = $2::bigint
WHERE endpoint_id = $1::uuid AND due_at IS NULL
