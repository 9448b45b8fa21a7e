INSERT INTO key_check (sealed) VALUES (?1)
