SELECT
    count(*) FILTER (WHERE state = 'scheduled' AND due_at <= $1::bigint),
    min(due_at) FILTER (WHERE state = 'scheduled' AND due_at <= $1),
    count(*) FILTER (WHERE state = 'scheduled' AND due_at > $1),
    count(*) FILTER (WHERE state = 'leased'),
    min(lease_until) FILTER (WHERE state = 'leased'),
    count(*) FILTER (WHERE state = 'held'),
    (SELECT message_id FROM hookbox.delivery WHERE due_at IS NULL ORDER BY message_id LIMIT 1),
    (SELECT count(*) FROM hookbox.settled WHERE state = 'dead')
FROM hookbox.delivery
