UPDATE delivery SET state = 'cancelled', due_at = NULL
WHERE endpoint_id IN (SELECT id FROM endpoint WHERE application_id = ?1 AND deleted_at IS NULL)
    AND state IN ('scheduled', 'leased', 'held')
