-- delivery_due holds the states too, so that nothing but three indexes is read.
SELECT
    count(*) FILTER (WHERE state = 'scheduled' AND due_at <= ?1),
    min(due_at) FILTER (WHERE state = 'scheduled' AND due_at <= ?1),
    count(*) FILTER (WHERE state = 'scheduled' AND due_at > ?1),
    count(*) FILTER (WHERE state = 'leased'),
    min(due_at) FILTER (WHERE state = 'leased'),
    (SELECT count(*) FROM delivery INDEXED BY delivery_held WHERE state = 'held'),
    (SELECT min(message_id) FROM delivery INDEXED BY delivery_held WHERE state = 'held'),
    (SELECT count(*) FROM delivery INDEXED BY delivery_dead WHERE state = 'dead')
FROM delivery INDEXED BY delivery_due
WHERE due_at IS NOT NULL
