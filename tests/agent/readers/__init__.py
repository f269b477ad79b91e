"""Readers of devices."""
