INSERT INTO hookbox.idempotency (key, request, status, body, at)
SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::bytea[], $5::bigint[])
