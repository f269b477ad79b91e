"""Volumes that are made on first use, and what is told of those that take long."""
