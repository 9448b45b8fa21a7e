INSERT INTO idempotency (
    `key`, request, status, body, at
)
VALUES {(?1, ?2, ?3, ?4, ?5)}
