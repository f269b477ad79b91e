"""Decides whole batches: first who is placed, then where (docs/model.md)."""
