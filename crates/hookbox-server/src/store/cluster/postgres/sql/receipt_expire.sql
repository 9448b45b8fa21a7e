DELETE FROM hookbox.receipt
WHERE ctid = ANY (ARRAY(SELECT ctid FROM hookbox.receipt WHERE received_at < $1::bigint LIMIT $2::bigint))
