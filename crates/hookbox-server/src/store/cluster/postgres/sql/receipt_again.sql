UPDATE hookbox.receipt SET seen = seen + again.times
FROM unnest($1::bytea[], $2::bigint[], $3::bigint[]) AS again (key, variant, times)
WHERE receipt.key = again.key AND receipt.variant = again.variant
