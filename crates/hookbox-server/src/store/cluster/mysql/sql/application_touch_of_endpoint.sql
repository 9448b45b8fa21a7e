UPDATE application SET revision = revision + 1
WHERE id = (SELECT application_id FROM endpoint WHERE id = ?1)
