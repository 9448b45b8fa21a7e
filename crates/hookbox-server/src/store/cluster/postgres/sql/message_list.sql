SELECT id, application_id, event_id, event_type, channels, content_type, payload, source_id, headers, quarantined,
    created_at
FROM hookbox.message
WHERE application_id = $1::uuid AND id > $2::uuid AND id < $3::uuid
    AND ($4::text IS NULL OR event_type IN (SELECT jsonb_array_elements_text($4::jsonb)))
    AND ($5::text IS NULL OR channels::jsonb ? $5)
ORDER BY id ASC
LIMIT $6::bigint
