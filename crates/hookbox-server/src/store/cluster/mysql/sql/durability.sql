SELECT lower(variable_name), variable_value FROM information_schema.global_variables
WHERE variable_name IN ('INNODB_FLUSH_LOG_AT_TRX_COMMIT', 'INNODB_DOUBLEWRITE')
