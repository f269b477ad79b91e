"""Evictions of relocations: what the API lets go, asked for and remembered before it is needed."""
