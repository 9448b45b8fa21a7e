INSERT INTO migration (version, name, at) VALUES (?1, ?2, ?3)
