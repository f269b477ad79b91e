"""Tests of the problem by index."""
