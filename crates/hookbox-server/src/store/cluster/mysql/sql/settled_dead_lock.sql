SELECT settled.message_id, settled.endpoint_id, settled.fence, endpoint.disabled, length(message.payload)
FROM settled
JOIN endpoint ON endpoint.id = settled.endpoint_id AND endpoint.deleted_at IS NULL
JOIN message ON message.application_id = settled.application_id AND message.id = settled.message_id
WHERE settled.dead_of = ?1
    AND (?2 IS NULL OR settled.message_id = ?2)
    AND (?3 IS NULL OR settled.endpoint_id = ?3)
    AND settled.message_id >= ?4 AND (settled.message_id, settled.endpoint_id) > (?4, ?5)
ORDER BY settled.message_id, settled.endpoint_id
LIMIT ?6
FOR UPDATE
