"""Readers of the public data sets: one file each, and the traces and fabrics by name."""
