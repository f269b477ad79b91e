"""Tests of the readers: dra."""
