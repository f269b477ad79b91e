"""Reasons to hold a gang back from a cycle, one file each."""
