DELETE FROM message WHERE id IN ({?1})
