SELECT id, uid, revision
FROM application
WHERE (id IN ({?1}) OR live_uid IN ({?2})) AND deleted_at IS NULL
