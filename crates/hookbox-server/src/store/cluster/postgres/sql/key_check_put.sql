INSERT INTO hookbox.key_check (sealed) VALUES ($1::bytea)
