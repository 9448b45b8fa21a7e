SELECT RELEASE_LOCK(concat('hookbox.', left(sha1(database()), 40)))
