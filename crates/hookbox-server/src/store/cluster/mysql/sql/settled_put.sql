INSERT INTO settled (
    message_id, endpoint_id, application_id, state, fence, failures, cause
)
VALUES {(?1, ?2, ?3, ?4, ?5, ?6, ?7)}
