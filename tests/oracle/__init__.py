"""Brute force for tiny instances."""
