SELECT url
FROM endpoint
WHERE trusted = 1 AND disabled IS NULL AND deleted_at IS NULL
ORDER BY url
