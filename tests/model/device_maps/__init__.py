"""Device maps as a whole."""
