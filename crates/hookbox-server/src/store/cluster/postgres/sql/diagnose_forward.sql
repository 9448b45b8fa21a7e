SELECT url
FROM hookbox.endpoint
WHERE trusted AND disabled IS NULL AND deleted_at IS NULL
ORDER BY url
