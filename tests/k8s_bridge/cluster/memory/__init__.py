"""Tests of what the twin has beyond the contract."""
