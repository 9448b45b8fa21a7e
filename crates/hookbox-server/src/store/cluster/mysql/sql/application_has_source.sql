SELECT EXISTS (SELECT 1 FROM source WHERE application_id = ?1 AND deleted_at IS NULL)
