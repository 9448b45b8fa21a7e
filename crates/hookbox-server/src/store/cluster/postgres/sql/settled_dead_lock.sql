SELECT settled.message_id, settled.endpoint_id, settled.fence, endpoint.disabled, length(message.payload)
FROM hookbox.settled
JOIN hookbox.endpoint ON endpoint.id = settled.endpoint_id AND endpoint.deleted_at IS NULL
JOIN hookbox.message ON message.application_id = settled.application_id AND message.id = settled.message_id
WHERE settled.application_id = $1::uuid AND settled.state = 'dead'
    AND ($2::uuid IS NULL OR settled.message_id = $2)
    AND ($3::uuid IS NULL OR settled.endpoint_id = $3)
    AND (settled.message_id, settled.endpoint_id) > ($4::uuid, $5::uuid)
ORDER BY settled.message_id, settled.endpoint_id
LIMIT $6::bigint
FOR UPDATE OF settled
