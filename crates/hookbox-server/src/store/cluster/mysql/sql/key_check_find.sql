SELECT sealed FROM key_check
