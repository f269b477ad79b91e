"""Tests of the readers: pods."""
