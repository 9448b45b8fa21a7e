INSERT INTO delivery (message_id, endpoint_id, application_id, state, due_at, fence, failures, manual)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (message_id, endpoint_id) DO UPDATE SET
    state = excluded.state, due_at = excluded.due_at, failures = excluded.failures, manual = excluded.manual,
    cause = NULL
