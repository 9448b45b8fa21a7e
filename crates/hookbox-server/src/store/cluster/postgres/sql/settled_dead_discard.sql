UPDATE hookbox.settled SET state = 'cancelled', cause = NULL
WHERE application_id = $1::uuid AND state = 'dead'
    AND ($2::uuid IS NULL OR message_id = $2)
    AND ($3::uuid IS NULL OR endpoint_id = $3)
