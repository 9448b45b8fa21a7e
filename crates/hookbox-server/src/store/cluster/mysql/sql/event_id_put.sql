INSERT INTO event_id (
    `key`, message_id, at
)
VALUES {(?1, ?2, ?3)}
