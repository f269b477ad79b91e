"""Tests of what is refused."""
