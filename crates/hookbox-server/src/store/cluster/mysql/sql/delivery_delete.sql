DELETE FROM delivery
WHERE message_id IN ({?1}) AND (message_id, endpoint_id) IN ({(?1, ?2)})
