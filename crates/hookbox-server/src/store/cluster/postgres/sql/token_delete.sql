DELETE FROM hookbox.token WHERE id = $1::uuid
