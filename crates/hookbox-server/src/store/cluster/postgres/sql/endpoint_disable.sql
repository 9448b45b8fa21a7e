UPDATE hookbox.endpoint SET disabled = $2::text WHERE id = $1::uuid
