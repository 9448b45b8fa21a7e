INSERT INTO hookbox.settled (message_id, endpoint_id, application_id, state, fence, failures, cause)
SELECT *
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::bigint[], $6::bigint[], $7::text[])
