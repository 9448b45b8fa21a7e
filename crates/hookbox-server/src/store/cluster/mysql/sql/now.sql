SELECT CAST(unix_timestamp(now(3)) * 1000 AS SIGNED)
