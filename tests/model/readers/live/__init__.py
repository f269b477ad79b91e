"""Tests of the readers: live."""
