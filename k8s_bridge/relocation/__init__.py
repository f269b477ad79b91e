"""Pods that have to leave their places, and the places kept for those that come instead."""
