SELECT
    attempt.message_id, attempt.id, attempt.endpoint_id, attempt.url, attempt.at, attempt.duration_ms,
    attempt.status, attempt.response, attempt.error, attempt.succeeded, attempt.manual, attempt.late
FROM hookbox.attempt
JOIN hookbox.message ON message.application_id = $4::uuid AND message.id = attempt.message_id
WHERE attempt.message_id = $1::uuid AND attempt.id > $2::uuid AND attempt.id < $3::uuid
    AND ($5::uuid IS NULL OR attempt.endpoint_id = $5)
    AND ($6::boolean IS NULL OR attempt.succeeded = $6)
    AND ($7::bigint IS NULL OR coalesce(attempt.status, 0) / 100 = $7 / 100)
    AND ($8::text IS NULL OR message.event_type IN (SELECT jsonb_array_elements_text($8::jsonb)))
    AND ($9::text IS NULL OR message.channels::jsonb ? $9)
ORDER BY attempt.id ASC
LIMIT $10::bigint
