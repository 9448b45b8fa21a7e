SELECT disabled, count(*)
FROM hookbox.endpoint
WHERE deleted_at IS NULL
GROUP BY disabled
