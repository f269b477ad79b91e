"""Tests of what agents discover of the fabric."""
