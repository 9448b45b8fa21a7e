UPDATE receipt
JOIN (
    {SELECT CAST(?1 AS BINARY(32)) AS `key`, ?2 AS variant, ?3 AS times}
) AS again ON receipt.`key` = again.`key` AND receipt.variant = again.variant
SET receipt.seen = receipt.seen + again.times
