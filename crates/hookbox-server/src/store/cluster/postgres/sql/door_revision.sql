SELECT revision FROM hookbox.door
