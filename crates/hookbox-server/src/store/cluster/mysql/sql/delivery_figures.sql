SELECT
    count(CASE WHEN state = 'scheduled' AND due_at <= ?1 THEN 1 END),
    min(CASE WHEN state = 'scheduled' AND due_at <= ?1 THEN due_at END),
    count(CASE WHEN state = 'scheduled' AND due_at > ?1 THEN 1 END),
    count(CASE WHEN state = 'leased' THEN 1 END),
    min(CASE WHEN state = 'leased' THEN lease_until END),
    count(CASE WHEN state = 'held' THEN 1 END),
    (SELECT min(message_id) FROM delivery WHERE due_at IS NULL),
    (SELECT count(*) FROM settled WHERE dead_of IS NOT NULL)
FROM delivery
