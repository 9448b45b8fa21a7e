SELECT to_regclass('hookbox.migration') IS NOT NULL
