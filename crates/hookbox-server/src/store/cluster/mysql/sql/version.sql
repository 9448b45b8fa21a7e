SELECT CAST(substring_index(version(), '.', 1) * 10000 + substring_index(substring_index(version(), '.', 2), '.', -1) * 100 AS SIGNED), version()
