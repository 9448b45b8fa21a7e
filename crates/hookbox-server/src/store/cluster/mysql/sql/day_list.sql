SELECT 'none' WHERE 1 = 0
