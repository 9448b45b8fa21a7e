DELETE FROM message WHERE rowid = ?1
