"""Repair after node failures at the size of a data centre."""
