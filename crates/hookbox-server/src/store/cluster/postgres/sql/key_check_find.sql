SELECT sealed FROM hookbox.key_check
