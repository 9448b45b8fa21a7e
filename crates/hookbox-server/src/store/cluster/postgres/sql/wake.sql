SELECT pg_notify('hookbox', $1::text)
