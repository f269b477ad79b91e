"""Tests of the readers: text."""
