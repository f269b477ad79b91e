"""Descriptions of fabrics that other programs write, read into one form and checked."""
