"""Tests of the scheduling cycle."""
