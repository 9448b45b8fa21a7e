SELECT max(version) FROM hookbox.migration
