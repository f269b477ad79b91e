"""`fourleaf topology`: descriptions of fabrics, read, checked and written to nodes."""
