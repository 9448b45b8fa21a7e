SELECT disabled, count(*)
FROM endpoint
WHERE deleted_at IS NULL
GROUP BY disabled
