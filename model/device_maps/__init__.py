"""Device maps as a whole: made from nodes, checked against them, and mended."""
