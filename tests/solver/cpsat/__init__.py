"""Tests of the integer program."""
