SELECT 'none', 0 WHERE 1 = 0
