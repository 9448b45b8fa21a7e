SELECT EXISTS (
    SELECT 1 FROM hookbox.endpoint
    WHERE application_id = $1::uuid AND uid = $2::text AND id <> $3::uuid AND deleted_at IS NULL
)
