"""Tests of descriptions of fabrics."""
