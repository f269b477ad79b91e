"""Tests of the readers: nodes."""
