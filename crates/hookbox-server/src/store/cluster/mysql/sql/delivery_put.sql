INSERT INTO delivery (
    message_id, endpoint_id, application_id, state, due_at, lease_until, fence, failures, manual, bytes
)
VALUES {(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)}
