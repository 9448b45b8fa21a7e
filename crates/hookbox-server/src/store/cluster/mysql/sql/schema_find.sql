SELECT max(version) FROM migration
