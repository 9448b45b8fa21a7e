SELECT revision FROM door
