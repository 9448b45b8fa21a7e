INSERT INTO hookbox.event_id (key, message_id, at) SELECT * FROM unnest($1::bytea[], $2::uuid[], $3::bigint[])
