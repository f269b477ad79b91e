"""`fourleaf map`: device maps made, checked and mended."""
