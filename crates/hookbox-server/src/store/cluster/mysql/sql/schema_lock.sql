SELECT GET_LOCK(concat('hookbox.', left(sha1(database()), 40)), 30)
