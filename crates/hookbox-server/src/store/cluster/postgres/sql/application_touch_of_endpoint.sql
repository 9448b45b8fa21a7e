UPDATE hookbox.application SET revision = revision + 1
WHERE id = (SELECT application_id FROM hookbox.endpoint WHERE id = $1::uuid)
