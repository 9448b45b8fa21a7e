INSERT INTO token (id, name, digest, created_at) VALUES (?1, ?2, ?3, ?4)
