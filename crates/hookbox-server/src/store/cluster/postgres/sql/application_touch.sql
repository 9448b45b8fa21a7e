UPDATE hookbox.application SET revision = revision + 1 WHERE id = $1::uuid
