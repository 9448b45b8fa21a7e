SELECT id, application_id, event_id, event_type, channels, content_type, payload, source_id, headers, quarantined,
    created_at
FROM message
WHERE application_id IN ({?1}) AND id IN ({?2})
