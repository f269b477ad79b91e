"""Tests of the readers: objects."""
