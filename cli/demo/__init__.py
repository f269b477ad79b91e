"""`fourleaf demo`: the real scheduler on a cluster in memory, told as a story."""
