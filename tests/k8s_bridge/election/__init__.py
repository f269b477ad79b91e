"""Tests of the election and the gate."""
