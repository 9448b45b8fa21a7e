SELECT EXISTS (SELECT 1 FROM hookbox.source WHERE application_id = $1::uuid AND deleted_at IS NULL)
