DELETE FROM hookbox.message WHERE id = ANY ($1::uuid[])
