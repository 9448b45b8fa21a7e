DELETE FROM hookbox.idempotency
USING unnest($1::bytea[], $2::bigint[]) AS old (key, before)
WHERE idempotency.key = old.key AND idempotency.at < old.before
