DELETE FROM hookbox.idempotency
WHERE ctid = ANY (ARRAY(SELECT ctid FROM hookbox.idempotency WHERE at < $1::bigint LIMIT $2::bigint))
