DELETE FROM hookbox.event_id
WHERE ctid = ANY (ARRAY(SELECT ctid FROM hookbox.event_id WHERE at < $1::bigint LIMIT $2::bigint))
