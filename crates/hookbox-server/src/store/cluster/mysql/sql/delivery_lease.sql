UPDATE delivery SET state = 'leased', lease_until = ?3, fence = fence + 1
WHERE message_id IN ({?1}) AND (message_id, endpoint_id) IN ({(?1, ?2)})
