"""Where devices are read from: the driver of one vendor or the other, or a file."""
